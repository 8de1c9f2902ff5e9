// Epochs over real sockets.

#include "coxswain/client/blocking_client.hpp"
#include "coxswain/server/background_server.hpp"
#include "tests/client/fake_coordinator.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::test {
namespace {

server::options elastic() {
  server::options options;
  options.core.num_tasks = 3;
  options.core.elastic = true;
  options.core.last_call = duration{};
  options.core.come_back = duration{};
  options.core.page_entries_max = 1;  // so that the list of members has pages
  options.linger = 1s;
  return options;
}

class elastic_job {
 protected:
  using member = std::unique_ptr<blocking_client>;

  [[nodiscard]] member connected(std::string name) const {
    client_options options{coordinator.addresses().front()};
    options.any = true;
    options.member = std::move(name);
    return std::make_unique<blocking_client>(std::move(options));
  }

  // "2: 0 of 3", or the error, of each, which call next_epoch together.
  static std::vector<std::string> next(std::vector<blocking_client*> const& of) {
    std::vector<std::future<std::string>> calls;
    for (auto* const one : of) {
      calls.push_back(std::async(std::launch::async, [one] { return next_of(*one); }));
    }
    std::vector<std::string> results;
    for (auto& one : calls) results.push_back(one.get());
    return results;
  }

  static std::string next_of(blocking_client& c) {
    try {
      epoch const e = c.next_epoch(epoch_options{60s});
      return std::to_string(e.number) + ": " + std::to_string(e.rank.value) + " of " +
             std::to_string(e.size);
    } catch (error const& why) {
      return why.code() == errc::cancelled ? "CANCELLED" : why.what();
    }
  }

  static boost::system::error_code code_of(std::function<void()> const& call) {
    try {
      call();
    } catch (error const& why) {
      return why.code();
    }
    return {};
  }

  server::background_server coordinator{elastic()};
};

using texts = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(epochs_test, elastic_job)

BOOST_AUTO_TEST_CASE(members_join_are_lost_and_leave) {
  auto const a = connected("a");
  a->join();
  BOOST_TEST(!a->epoch_wanted());
  auto b = connected("b");
  auto joins = std::async(std::launch::async, [&] { b->join(); });
  while (!a->epoch_wanted()) continue;
  BOOST_TEST((next({a.get()}) == texts{"2: 0 of 2"}));
  joins.get();
  BOOST_TEST(*b->task() == task_id{1});
  auto const all = a->epoch_members();
  BOOST_TEST(all.epoch == 2u);
  BOOST_TEST_REQUIRE(all.members.size() == 2u);
  BOOST_TEST((all.members[0].survivor && !all.members[1].survivor));
  BOOST_TEST(all.members[1].name == "b");

  b.reset();

  BOOST_TEST((code_of([&] { a->get("never set"); }) == errc::aborted));
  BOOST_TEST((code_of([&] { a->leave(leave_options{60s}); }) == errc::aborted));
  BOOST_TEST((next({a.get()}) == texts{"3: 0 of 1"}));
  a->leave(leave_options{60s});
  coordinator.wait_done();
}

BOOST_AUTO_TEST_CASE(a_member_beyond_the_new_size_has_left) {
  auto const a = connected("a");
  a->join();
  auto const b = connected("b");
  auto joins = std::async(std::launch::async, [&] { b->join(); });
  while (!a->epoch_wanted()) continue;
  next({a.get()});
  joins.get();
  BOOST_TEST((code_of([&] { a->resize(4); }) == errc::invalid_argument));

  a->resize(1);

  BOOST_TEST((next({a.get(), b.get()}) == texts{"3: 0 of 1", "CANCELLED"}));
  b->leave(leave_options{60s});
  a->leave(leave_options{60s});
  coordinator.wait_done();
}

BOOST_AUTO_TEST_CASE(a_step_agreed_on_in_a_former_epoch_stops_nobody) {
  auto const a = connected("a");
  a->join();
  BOOST_TEST(!a->reached_sync_point(3));
  a->preempt();
  bool has_agreed = false;
  for (std::uint64_t through = 0; !has_agreed;) {
    auto const events = a->watch_events(through);
    through = events.through;
    for (auto const& entry : events.entries) {
      has_agreed =
          has_agreed || entry.what.text.find("agreed to stop at step 4") != std::string::npos;
    }
  }

  BOOST_TEST((next({a.get()}) == texts{"2: 0 of 1"}));
  BOOST_TEST(!a->reached_sync_point(4));
  a->leave(leave_options{60s});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(pages_of_members, fake_fixture)

// The member "a" and so on; `next`: where the next page begins, if there is one.
core::answer page(std::uint64_t epoch, std::string name, std::optional<task_id> next = {}) {
  core::epoch_members_answer made;
  made.epoch = epoch;
  made.members.emplace_back();
  made.members.back().name = std::move(name);
  made.next_task = next;
  core::answer all;
  all.value = std::move(made);
  return all;
}

BOOST_AUTO_TEST_CASE(an_epoch_that_begins_between_two_pages_begins_the_list_again) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    epoch_members all;
    std::string outcome;
    auto const list = [&]() -> asio::awaitable<void> { all = co_await c.epoch_members(); };
    note(io, list(), outcome);
    std::vector<std::pair<core::answer, std::uint32_t>> pages;
    pages.emplace_back(page(1, "a", task_id{1}), 0);
    pages.emplace_back(page(2, "lost"), 1);
    pages.emplace_back(page(2, "b", task_id{1}), 0);
    pages.emplace_back(page(2, "c"), 1);
    for (std::size_t i = 0; i < pages.size(); ++i) {
      (void)co_await fake.read();
      auto const asked = std::get<core::epoch_members_args>(fake.message().what);
      BOOST_TEST(asked.first_task == task_id{pages[i].second});
      core::answer reply = std::move(pages[i].first);
      co_await fake.reply(i + 1, std::move(reply));
    }
    while (outcome.empty()) co_await next_iteration();
    BOOST_TEST(outcome == "ok");
    BOOST_TEST(all.epoch == 2u);
    BOOST_TEST_REQUIRE(all.members.size() == 2u);
    BOOST_TEST(all.members[0].name == "b");
    BOOST_TEST(all.members[1].name == "c");
    BOOST_TEST(!all.next_task);
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
