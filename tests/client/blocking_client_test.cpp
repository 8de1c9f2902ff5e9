#include "coxswain/client/blocking_client.hpp"

#include "coxswain/server/background_server.hpp"
#include "coxswain/server/server.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace coxswain::test {
namespace {

server::options server_options() {
  server::options options;
  options.core.num_tasks = 2;
  options.linger = 1s;
  return options;
}

class fixture {
 protected:
  [[nodiscard]] client_options options() const {
    return client_options{coordinator.addresses().front()};
  }
  [[nodiscard]] client_options options(std::uint32_t task) const {
    return client_options{coordinator.addresses().front(), task_id{task}};
  }

  server::background_server coordinator{server_options()};
};

template <class Call>
status outcome_of(Call call) {
  try {
    call();
    return {};
  } catch (error const& e) {
    return e.outcome();
  }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(blocking_client_test, fixture)

BOOST_AUTO_TEST_CASE(two_threads_connect_and_join_in_one_call) {
  auto const live = [this](std::uint32_t task) {
    auto c = blocking_client::connect_and_join(options(task));
    auto const round = c.barrier("b", 60s);
    c.leave();
    return round.value;
  };

  auto zero = std::async(std::launch::async, live, 0);

  BOOST_TEST(live(1) == 1u);
  BOOST_TEST(zero.get() == 1u);
}

BOOST_AUTO_TEST_CASE(connect_and_join_throws_if_others_are_missing) {
  BOOST_CHECK_EXCEPTION(blocking_client::connect_and_join(options(0), 10ms), error,
                        [](error const& e) { return e.code() == errc::deadline_exceeded; });
}

BOOST_AUTO_TEST_CASE(concurrent_operations_of_50_getters_and_50_setters_all_find_their_value) {
  blocking_client c{options()};
  std::vector<std::future<std::string>> getters;
  std::vector<std::future<std::uint64_t>> setters;
  for (int i = 0; i < 50; ++i) {
    std::string const key = "key/" + std::to_string(i);
    getters.push_back(std::async(std::launch::async, [&c, key] { return c.get(key, 60s); }));
    setters.push_back(std::async(std::launch::async, [&c, key] { return c.put(key, key); }));
  }

  for (int i = 0; i < 50; ++i) {
    BOOST_TEST(getters[static_cast<std::size_t>(i)].get() == "key/" + std::to_string(i));
    BOOST_TEST(setters[static_cast<std::size_t>(i)].get() > 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_client_knows_its_role_and_continues_after_a_refusal) {
  auto guarded = server_options();
  guarded.core.credentials = {{core::role::reader, "look"}, {core::role::worker, "pull"}};
  server::background_server other{guarded};
  client_options with{other.addresses().front()};
  with.token = "look";
  blocking_client reader{with};
  with.token = "pull";
  blocking_client worker{with};

  BOOST_TEST((reader.role() == core::role::reader));
  BOOST_TEST((worker.role() == core::role::worker));
  BOOST_TEST(outcome_of([&] { reader.put("k", "v"); }).code() == errc::permission_denied);
  BOOST_TEST(!reader.try_get("k"));
  BOOST_TEST(worker.put("k", "v") == 1u);
  BOOST_TEST(reader.get("k", 60s) == "v");
}

BOOST_AUTO_TEST_CASE(waiting_for_a_failure_respects_its_timeout) {
  blocking_client c{options()};

  BOOST_TEST(!c.failure(0s));
  BOOST_TEST(!c.failure(10ms));
  BOOST_TEST(!c.failure(-1s));
}

BOOST_AUTO_TEST_CASE(connecting_without_a_coordinator_throws) {
  auto with = options();
  with.connect_timeout = 30ms;
  with.address = "unix:/nowhere/socket";

  auto const outcome = outcome_of([&] { blocking_client c{with}; });

  BOOST_TEST(outcome.code() == errc::deadline_exceeded);
}

BOOST_AUTO_TEST_CASE(an_endless_name_lookup_blocks_neither_connect_nor_destruction) {
  client_options lost{"coordinator.endless.invalid:8476"};
  lost.connect_timeout = 10ms;
  auto const outcome = outcome_of([&] { blocking_client{lost}; });
  BOOST_TEST(outcome.code() == errc::deadline_exceeded);
}

BOOST_AUTO_TEST_CASE(a_callback_that_calls_its_own_client_is_refused_at_once) {
  blocking_client a{options(0)};
  blocking_client b{options(1)};
  auto const other = std::async(std::launch::async, [&] { return b.join(); });
  a.join();
  other.wait();
  std::promise<std::vector<status>> refusals;
  barrier_options with{60s};
  with.progress_every = 1ms;
  with.on_progress = [&, once = false](core::barrier_progress const&) mutable {
    if (std::exchange(once, true)) return;
    std::vector<status> refused;
    refused.push_back(outcome_of([&] { a.put("k", "v"); }));
    refused.push_back(outcome_of([&] { a.failure(1s); }));
    BOOST_TEST(a.reconnects() == 0u);
    refusals.set_value(std::move(refused));
  };
  auto const waits = std::async(std::launch::async, [&] { return a.barrier("b", with); });

  for (status const& one : refusals.get_future().get()) {
    BOOST_TEST(one.code() == errc::failed_precondition);
    BOOST_TEST(one.message().find("callback") != std::string::npos);
  }
  b.barrier("b");
  waits.wait();
}

BOOST_AUTO_TEST_CASE(a_callback_may_close_or_destroy_its_client) {
  for (bool const destroys : {false, true}) {
    std::optional<server::background_server> lost{server_options()};
    std::unique_ptr<blocking_client> c;
    std::promise<void> over;
    client_options with{lost->addresses().front()};
    with.on_event = [&, is_reported = false](client_event const&) mutable {
      if (std::exchange(is_reported, true)) return;
      if (destroys) {
        c.reset();
      } else {
        c->close();
      }
      over.set_value();
    };
    c = std::make_unique<blocking_client>(with);

    lost.reset();

    over.get_future().wait();
    BOOST_TEST((c == nullptr) == destroys);
  }
}

BOOST_AUTO_TEST_CASE(closing_ends_calls_of_other_threads) {
  blocking_client c{options()};
  auto waiting = std::async(std::launch::async,
                            [&] { return outcome_of([&] { (void)c.get("k", without_limit); }); });
  while (coordinator.ask(&server::server::look).waiting_gets == 0) std::this_thread::yield();

  c.close();

  BOOST_TEST(waiting.get().code() == errc::cancelled);
  BOOST_TEST(outcome_of([&] { c.put("k", "v"); }).code() == errc::cancelled);
  BOOST_TEST(c.num_tasks() == 2u);
  BOOST_TEST(c.reconnects() == 0u);
  c.close();
}

BOOST_AUTO_TEST_CASE(a_client_that_is_destroyed_fails_its_task) {
  auto second = std::make_unique<blocking_client>(options(1));
  blocking_client first{options(0)};
  auto joining = std::async(std::launch::async, [&] { return second->join(); });
  first.join();
  joining.get();

  auto failing = std::async(std::launch::async, [&] { return first.failure(600s); });

  second.reset();

  BOOST_TEST((failing.get().value().cause.task == task_id{1}));
  BOOST_TEST((first.failure().value().cause.task == task_id{1}));
  BOOST_TEST((first.failure(0s).value().cause.task == task_id{1}));
}

BOOST_AUTO_TEST_CASE(a_forked_child_cannot_use_it_and_the_parent_can) {
  blocking_client c{options()};
  c.put("k", "v");

  pid_t const child = ::fork();
  if (child == 0) {
    int code = 1;
    try {
      c.put("k", "w", put_mode::overwrite);
    } catch (error const& e) {
      bool const is_notified = e.code() == errc::failed_precondition &&
                               e.outcome().message() == "client used after fork";
      code = is_notified && c.num_tasks() == 2 && c.reconnects() == 0 ? 0 : 2;
    }
    c.close();
    c.~blocking_client();
    ::_exit(code);
  }
  int how = -1;
  BOOST_REQUIRE(::waitpid(child, &how, 0) == child);

  BOOST_TEST(WIFEXITED(how));
  BOOST_TEST(WEXITSTATUS(how) == 0);
  BOOST_TEST(c.get("k", 60s) == "v");
}

BOOST_AUTO_TEST_CASE(handles_may_be_destroyed_on_another_thread) {
  blocking_client c{options()};
  blocking_client next{options()};
  for (std::uint32_t i = 0; i < 100; ++i) {
    c.push("q", "a");
    auto item = std::make_unique<blocking_item>(c.take("q"));
    auto lock = std::make_unique<blocking_lock>(c.locked("l"));
    std::thread elsewhere{[item = std::move(item), lock = std::move(lock)]() mutable {
      item.reset();
      lock.reset();
    }};

    auto again = next.take("q", 60s);
    BOOST_TEST(again.redeliveries() == 1u);
    again.finish();
    next.locked("l", 60s).unlock();
    elsewhere.join();
  }
}

BOOST_AUTO_TEST_CASE(a_call_that_is_refused_here_leaves_the_item_with_its_handle) {
  std::optional<blocking_item> item;
  std::promise<status> refused;
  bool is_reported = false;
  auto with = options();
  with.on_event = [&](client_event const&) {
    if (!item || std::exchange(is_reported, true)) return;
    refused.set_value(outcome_of([&] { item->finish(); }));
  };
  blocking_client c{options()};
  blocking_client reported{with};
  c.push("q", "a");
  item.emplace(reported.take("q"));
  auto waiting = std::async(std::launch::async, [&] { return reported.get("k", 60s); });

  BOOST_TEST(refused.get_future().get().code() == errc::failed_precondition);
  c.put("k", "v");
  waiting.get();
  item->finish();
  item.reset();
}

BOOST_AUTO_TEST_CASE(a_forked_child_gives_back_nothing) {
  blocking_client c{options()};
  c.push("q", "a");
  c.push("q", "b");
  auto item = c.take("q");
  auto other = c.take("q");
  auto lock = c.locked("l");

  pid_t const child = ::fork();
  if (child == 0) {
    bool const is_refused =
        outcome_of([&] { item.finish(); }).message() == "client used after fork" &&
        outcome_of([&] { lock.unlock(); }).message() == "client used after fork";
    other = std::move(item);
    other.~blocking_item();
    lock.~blocking_lock();
    ::_exit(is_refused ? 0 : 1);
  }
  int how = -1;
  BOOST_REQUIRE(::waitpid(child, &how, 0) == child);

  BOOST_TEST(WIFEXITED(how));
  BOOST_TEST(WEXITSTATUS(how) == 0);
  BOOST_TEST(!c.try_lock("l"));
  item.finish();
  other.finish();
  lock.unlock();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
