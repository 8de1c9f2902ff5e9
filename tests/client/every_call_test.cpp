// Every call of both clients over real sockets: its request reaches the coordinator and its reply
// the caller. Not here: what the calls do (the tests of the core).

#include "coxswain/client/blocking_client.hpp"
#include "coxswain/client/client.hpp"
#include "coxswain/server/background_server.hpp"
#include "coxswain/server/server.hpp"

#include <boost/asio/use_future.hpp>
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace coxswain::test {
namespace {

// How a client is called: `begin` starts a call, `get` waits for its result, `wait` for anything.
struct blocking_calls {
  using client_type = blocking_client;

  static client_type connect(client_options options) { return client_type{std::move(options)}; }
  template <class Call>
  auto begin(Call call) {
    return std::async(std::launch::async, std::move(call));
  }
  template <class T>
  T get(std::future<T> result) {
    return result.get();
  }
  static void wait() { std::this_thread::yield(); }
};

struct coroutine_calls {
  using client_type = client;

  client_type connect(client_options options) {
    return get(asio::co_spawn(io, client::connect(std::move(options)), asio::use_future));
  }
  template <class Call>
  auto begin(Call call) {
    return asio::co_spawn(io, call(), asio::use_future);
  }
  template <class T>
  T get(std::future<T> result) {
    while (result.wait_for(std::chrono::seconds{0}) != std::future_status::ready) wait();
    return result.get();
  }
  void wait() {
    if (io.stopped()) io.restart();
    io.run_one_for(std::chrono::milliseconds{1});
  }

  asio::io_context io{1};
};

using both_clients = boost::mpl::list<blocking_calls, coroutine_calls>;

// Two tasks that have joined. Task 0 is recoverable.
template <class Calls>
class joined {
 public:
  joined() {
    auto first = calls.begin([this] { return a.join(); });
    auto second = calls.begin([this] { return b.join(); });
    BOOST_TEST(!get(std::move(first)));
    BOOST_TEST(!get(std::move(second)));
  }

  template <class T>
  T get(std::future<T> result) {
    return calls.get(std::move(result));
  }
  template <class Call>
  auto of(Call call) {
    return calls.get(calls.begin(std::move(call)));
  }
  // The outcome of a call.
  template <class Call>
  status try_to(Call call) {
    try {
      (void)calls.get(calls.begin(std::move(call)));
      return {};
    } catch (error const& e) {
      return e.outcome();
    }
  }
  template <class Call>
  errc code(Call call) {
    return try_to(std::move(call)).code();
  }

  [[nodiscard]] client_options options(std::uint32_t task) const {
    client_options made{coordinator.addresses().front(), task_id{task}};
    made.recoverable = task == 0;
    return made;
  }

 private:
  static server::options for_two() {
    server::options made;
    made.core.num_tasks = 2;
    made.linger = 1s;
    return made;
  }

 public:
  server::background_server coordinator{for_two()};
  Calls calls;
  typename Calls::client_type a{calls.connect(options(0))};
  typename Calls::client_type b{calls.connect(options(1))};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(every_call)

BOOST_AUTO_TEST_CASE_TEMPLATE(keys_are_written_read_and_removed, Calls, both_clients) {
  joined<Calls> j;
  auto& c = j.a;
  auto waiting = j.calls.begin([&] { return c.get("a", 60s); });
  BOOST_TEST(j.of([&] { return c.put("/a/", "1"); }) == 1u);
  BOOST_TEST(j.get(std::move(waiting)) == "1");
  BOOST_TEST(j.code([&] { return c.put("a", "2"); }) == errc::already_exists);
  BOOST_TEST(j.code([&] { return c.get("none", 0s); }) == errc::deadline_exceeded);
  BOOST_TEST(j.of([&] { return c.append("a", "1"); }) == 2u);
  std::vector<std::pair<std::string, std::string>> const entries{{"d/b", "2"}, {"d/c", ""}};
  BOOST_TEST(j.of([&] { return c.put_all(entries); }) == 4u);
  BOOST_TEST(j.of([&] { return c.put_all(entries, put_mode::overwrite); }) == 6u);
  auto const swap = [&](expectation expected, std::string_view value) {
    return j.of([&c, expected, value] { return c.compare_and_set("a", value, expected); });
  };
  BOOST_TEST(bool{swap(expectation::value("11"), "x")});
  BOOST_TEST(swap(expectation::version(1), "y").found.value() == "x");
  BOOST_TEST(swap(expectation::absent(), "y").outcome.code() == errc::already_exists);
  std::vector<std::string> const keys{"d/b", "a"};
  BOOST_TEST(j.of([&] { return c.get_all(keys); }).at(1).value == "x");
  BOOST_TEST(j.of([&] { return c.count("d"); }) == 2u);
  BOOST_TEST(j.of([&] { return c.increment("n", -3); }) == -3);
  BOOST_TEST(j.of([&] { return c.try_get("n"); }).value() == "-3");
  BOOST_TEST(!j.of([&] { return c.try_get("m"); }));
  auto const listed = j.of([&] { return c.list("d"); });
  BOOST_TEST(listed.size() == 2u);
  BOOST_TEST(listed.at(0).key == "d/b");
  BOOST_TEST(listed.at(0).version == 5u);
  BOOST_TEST(j.of([&] { return c.put("mine", "v", key_lifetime::ephemeral); }) == 9u);
  BOOST_TEST(j.of([&] { return c.remove("n"); }));
  BOOST_TEST(!j.of([&] { return c.remove("n"); }));
  BOOST_TEST(j.of([&] { return c.remove_tree("d"); }) == 2u);
  BOOST_TEST(j.code([&] { return c.remove_tree("/"); }) == errc::invalid_argument);
  BOOST_TEST(j.of([&] { return c.remove_tree("/", remove_mode::all); }) == 2u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(keys_are_watched, Calls, both_clients) {
  joined<Calls> j;
  auto watch = j.of([&] { return j.a.watch("d"); });
  BOOST_TEST(watch.version() == 0u);
  BOOST_TEST(j.of([&] { return watch.next(0s); }).empty());
  auto change = j.calls.begin([&] { return watch.next(); });
  BOOST_TEST(j.of([&] { return j.b.put("d/e", "4"); }) == 1u);
  auto const seen = j.get(std::move(change));
  BOOST_TEST(seen.at(0).key == "d/e");
  BOOST_TEST(seen.at(0).value.value() == "4");
  BOOST_TEST(j.of([&] { return watch.list(); }).size() == 1u);
  BOOST_TEST(j.of([&] { return j.a.remove("d/e"); }));
  auto old = j.of([&] { return j.a.watch("d", 0); });
  auto const all = j.of([&] { return old.next(); });
  BOOST_TEST(all.size() == 2u);
  BOOST_TEST(!all.at(1).value.has_value());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(items_and_locks_are_handed_over, Calls, both_clients) {
  joined<Calls> j;
  auto& c = j.a;
  auto popped = j.calls.begin([&] { return c.pop("q", 60s); });
  BOOST_TEST(j.of([&] { return c.queue_length("q"); }) == 0u);
  j.of([&] { return c.push("q", "item"); });
  BOOST_TEST(j.get(std::move(popped)).value == "item");
  BOOST_TEST(j.code([&] { return c.pop("q", 0s); }) == errc::deadline_exceeded);
  j.of([&] { return c.push("q", "work"); });
  {
    auto item = j.of([&] { return c.take("q"); });
    BOOST_TEST(item.value() == "work");
    j.of([&] { return item.extend(without_limit); });
    j.of([&] { return item.release(); });
  }
  auto item = j.of([&] { return j.b.take("q"); });
  BOOST_TEST(item.redeliveries() == 1u);
  j.of([&] { return item.finish(); });

  auto const token = j.of([&] { return c.lock("l"); });
  BOOST_TEST(token == 1u);
  BOOST_TEST(!j.of([&] { return j.b.try_lock("l"); }));
  BOOST_TEST(j.code([&] { return j.b.unlock("l", token); }) == errc::permission_denied);
  auto next = j.calls.begin([&] { return j.b.locked("l", 60s); });
  j.of([&] { return c.unlock("l", token); });
  auto lock = j.get(std::move(next));
  BOOST_TEST(lock.token() == 2u);
  j.of([&] { return lock.unlock(); });
  BOOST_TEST(j.of([&] { return c.try_lock("l"); }).value() == 3u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(tasks_meet, Calls, both_clients) {
  joined<Calls> j;
  auto const together = [&](auto call) {
    auto first = j.calls.begin([&] { return call(j.a, 0); });
    auto second = j.calls.begin([&] { return call(j.b, 1); });
    auto const result = j.get(std::move(second));
    BOOST_TEST((j.get(std::move(first)) == result));
    return result;
  };
  using strings = std::vector<std::string>;
  BOOST_TEST(together([](auto& c, int) { return c.barrier("r", 60s); }) == round_number{1});
  BOOST_TEST((together([](auto& c, int i) { return c.all_gather("g", i == 0 ? "zero" : "one"); }) ==
              strings{"zero", "one"}));
  BOOST_TEST(together([](auto& c, int i) { return c.reduce("r", i + 1, reduction::sum); }) == 3);
  BOOST_TEST(together([](auto& c, int i) { return c.reduce("r", -0.5 * i, reduction::min); }) ==
             -0.5);
  BOOST_TEST(together([](auto& c, int i) {
               return c.reduce_bits("r", i == 0 ? "\x0f" : "\x3c", bitwise::all);
             }) == "\x0c");
  BOOST_TEST(together([](auto& c, int) { return c.all_equal("r", "same"); }) == round_number{5});
  BOOST_TEST(together([](auto& c, int) { return c.count_barrier("c", 2); }) == round_number{1});
  auto const alive = together([](auto& c, int) { return c.alive_tasks(); });
  BOOST_TEST(alive.at(1).incarnation == j.b.incarnation());
  auto const devices = together([](auto& c, int) { return c.exchange_topology("gpu", {}); });
  BOOST_TEST(devices.tasks.size() == 2u);
  barrier_options const alone{60s, 0};
  BOOST_TEST(j.of([&] { return j.a.barrier("mine", alone); }) == round_number{1});

  auto cancelled = j.calls.begin([&] { return j.a.barrier("b", 60s); });
  while (j.coordinator.ask(&server::server::look).barriers.empty()) j.calls.wait();
  j.of([&] { return j.b.cancel_barrier("b", round_number{1}); });
  BOOST_CHECK_EXCEPTION(j.get(std::move(cancelled)), error,
                        [](error const& e) { return e.code() == errc::cancelled; });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_job_is_seen, Calls, both_clients) {
  joined<Calls> j;
  auto& c = j.b;
  BOOST_TEST(c.num_tasks() == 2u);
  BOOST_TEST((c.task() == task_id{1}));
  BOOST_TEST(c.reconnects() == 0u);
  BOOST_TEST((c.role() == core::role::worker));
  j.of([&] { return c.report_progress(7); });
  auto const status = j.of([&] { return c.inspect(); });
  BOOST_TEST(status.tasks.at(1).progress->step == 7u);
  BOOST_TEST(status.tasks.at(1).self == c.incarnation());
  auto waiting = j.calls.begin([&] { return j.a.barrier("later", 60s); });
  while (j.coordinator.ask(&server::server::look).barriers.empty()) j.calls.wait();
  auto const why = j.of([&] { return c.why(); });
  BOOST_TEST(why.waits.at(0).name == "later");
  BOOST_TEST((why.waits.at(0).missing->known.at(0).step == 7u));
  j.of([&] { return c.barrier("later"); });
  j.get(std::move(waiting));
  auto const tasks = j.of([&] { return c.watch_tasks(); });
  BOOST_TEST((j.of([&] { return c.watch_tasks(tasks.version, 10ms); }) == tasks));
  BOOST_TEST(j.of([&] { return c.watch_events(); }).through >= 3u);
  BOOST_TEST(j.code([&] { return c.watch_events(999); }) == errc::invalid_argument);
  BOOST_TEST(!j.of([&] { return c.reached_sync_point(1); }));
  j.of([&] { return c.preempt(600s); });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(tasks_fail_return_and_leave, Calls, both_clients) {
  joined<Calls> j;
  join_options taking{60s};
  taking.take_over = true;
  leave_options returning;
  returning.returning = true;
  BOOST_TEST(j.of([&] { return j.a.join(); }));  // once more
  BOOST_TEST(j.code([&] { return j.a.reset(); }) == errc::failed_precondition);
  j.of([&] { return j.a.report_error(errc::data_loss, "bad disk"); });
  BOOST_TEST(j.code([&] { return j.a.barrier("b"); }) == errc::failed_precondition);
  j.of([&] { return j.a.reset(); });
  BOOST_TEST(j.of([&] { return j.a.join(); }));

  auto next = j.calls.connect(j.options(0));
  BOOST_TEST(j.of([&] { return next.join(taking); }));
  BOOST_TEST(j.code([&] { return j.a.put("k", "v"); }) == errc::aborted);
  BOOST_TEST(j.code([&] { return j.b.leave(returning); }) == errc::invalid_argument);
  j.of([&] { return next.leave(returning); });
  auto last = j.calls.connect(j.options(0));
  BOOST_TEST(j.of([&] { return last.join(); }));
  auto leaving = j.calls.begin([&] { return last.leave(); });
  j.of([&] { return j.b.leave(); });
  j.get(std::move(leaving));
  BOOST_TEST(j.code([&] { return j.b.put("k", "v"); }) == errc::failed_precondition);
  j.coordinator.wait_done();
  BOOST_TEST(!j.coordinator.ask(&server::server::error).has_value());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_job_is_drained_and_stopped, Calls, both_clients) {
  joined<Calls> j;
  auto late = j.calls.connect(j.options(0));
  j.of([&] { return j.b.drain_job("upgrade"); });
  BOOST_TEST(j.code([&] { return late.join(); }) == errc::failed_precondition);
  BOOST_TEST(j.of([&] { return late.inspect(); }).state.headline.find("by ") != std::string::npos);
  BOOST_TEST(j.of([&] { return j.a.put("k", "v"); }) == 1u);

  j.of([&] { return late.stop_job("now"); });
  BOOST_CHECK_EXCEPTION(j.of([&] { return j.a.put("k", "v"); }), error, [](error const& e) {
    return e.code() == errc::unavailable &&
           std::string_view{e.what()}.find("the job was stopped: by ") != std::string_view::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
