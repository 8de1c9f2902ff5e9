// Preemption over real sockets: notices, signals, and stopping together.

#include "coxswain/client/client.hpp"
#include "coxswain/client/preemption_notifier.hpp"
#include "coxswain/server/server.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace coxswain::test {
namespace {

using namespace asio::experimental::awaitable_operators;

server::options for_two() {
  server::options options;
  options.core.num_tasks = 2;
  options.linger = 1s;
  return options;
}

class job {
 protected:
  asio::awaitable<void> join_both() {
    client_options const first{coordinator.addresses().front(), task_id{0}};
    client_options const second{coordinator.addresses().front(), task_id{1}};
    a = co_await client::connect(first);
    b = co_await client::connect(second);
    co_await (a.join() && b.join());
  }

  // Runs the test with a coordinator.
  template <class Test>
  void run(Test test) {
    std::exception_ptr problem;
    auto report = [&](std::exception_ptr p) {
      problem = std::move(p);
      io.stop();
    };
    asio::co_spawn(io, coordinator.run(), asio::detached);
    asio::co_spawn(io, std::move(test), report);
    io.run_for(60s);
    BOOST_TEST(io.stopped());
    if (problem) std::rethrow_exception(problem);
  }

  asio::io_context io{1};
  server::server coordinator{io, for_two()};
  client a;
  client b;
};

errc code_of(std::exception_ptr problem) {
  try {
    std::rethrow_exception(problem);
  } catch (error const& e) {
    return e.outcome().code();
  }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(preemption_test, job)

BOOST_AUTO_TEST_CASE(all_stop_at_the_same_step) {
  run([this]() -> asio::awaitable<void> {
    co_await join_both();
    bool stops = co_await a.reached_sync_point(0);
    BOOST_TEST(!stops);
    stops = co_await a.reached_sync_point(1);
    BOOST_TEST(!stops);

    co_await b.preempt();
    // The agreement started before the reply to the notice; this call waits for its end.
    stops = co_await a.reached_sync_point(2);
    BOOST_TEST(stops);
    stops = co_await a.reached_sync_point(3);
    BOOST_TEST(!stops);
    stops = co_await b.reached_sync_point(1);
    BOOST_TEST(!stops);
    stops = co_await b.reached_sync_point(2);
    BOOST_TEST(stops);
  });
}

BOOST_AUTO_TEST_CASE(shutdown_without_preemption_is_clean_with_and_without_reported_steps) {
  run([this]() -> asio::awaitable<void> {
    co_await join_both();
    bool const stops = co_await a.reached_sync_point(7);
    BOOST_TEST(!stops);
    co_await (a.leave() && b.leave());
    BOOST_TEST((coordinator.error() == std::nullopt));
  });
}

BOOST_AUTO_TEST_CASE(shutdown_without_initialization_is_clean_for_a_client_that_never_joined) {
  run([this]() -> asio::awaitable<void> {
    client_options const first{coordinator.addresses().front(), task_id{0}};
    a = co_await client::connect(first);
    co_await a.leave();
    { preemption_notifier never_used{io.get_executor()}; }
    errc given = errc::ok;
    try {
      co_await b.reached_sync_point(0);  // it was never connected
    } catch (error const& e) {
      given = e.outcome().code();
    }
    BOOST_TEST(given == errc::failed_precondition);
    BOOST_TEST((coordinator.error() == std::nullopt));
  });
}

BOOST_AUTO_TEST_CASE(preempt_fast_task_agrees_with_an_idle_task) {
  run([this]() -> asio::awaitable<void> {
    co_await join_both();
    for (std::uint64_t step = 0; step <= 100; ++step) {
      bool const stops = co_await a.reached_sync_point(step);
      BOOST_TEST(!stops);
    }
    co_await a.preempt(0s, task_id{0});
    bool const stops = co_await a.reached_sync_point(101);
    BOOST_TEST(stops);
  });
}

BOOST_AUTO_TEST_CASE(shutdown_tasks_without_preemption_and_the_next_check_is_false) {
  run([this]() -> asio::awaitable<void> {
    co_await join_both();
    co_await (a.leave() && b.leave());
    bool const stops = co_await a.reached_sync_point(5);
    BOOST_TEST(!stops);
  });
}

BOOST_AUTO_TEST_CASE(will_be_preempted_at_async_same_result_for_all_callbacks) {
  run([this]() -> asio::awaitable<void> {
    preemption_notifier const notifier{io.get_executor(), SIGUSR2};
    auto const before = std::chrono::system_clock::now();
    asio::post(io, [] { ::raise(SIGUSR2); });

    auto const both = co_await (notifier.will_be_preempted_at() && notifier.will_be_preempted_at());
    auto const later = co_await notifier.will_be_preempted_at();

    BOOST_TEST((std::get<0>(both) == std::get<1>(both)));
    BOOST_TEST((later == std::get<0>(both)));
    BOOST_TEST((later >= before));
  });
}

BOOST_AUTO_TEST_CASE(reset_two_different_preempt_times_recorded) {
  run([this]() -> asio::awaitable<void> {
    std::vector<std::chrono::system_clock::time_point> times;
    for (int i = 0; i < 2; ++i) {
      preemption_notifier const notifier{io.get_executor(), SIGUSR2};
      ::raise(SIGUSR2);
      times.push_back(co_await notifier.will_be_preempted_at());
    }
    BOOST_TEST((times.at(0) < times.at(1)));
  });
}

// Sharp edge 40.
BOOST_AUTO_TEST_CASE(a_signal_keeps_its_action_unless_a_notifier_exists) {
  auto const handler = [] {
    struct sigaction now {};
    ::sigaction(SIGUSR2, nullptr, &now);
    return now.sa_handler;
  };
  {
    client const unconnected;
    BOOST_TEST((handler() == SIG_DFL));
    preemption_notifier const notifier{io.get_executor(), SIGUSR2};
    BOOST_TEST((handler() != SIG_DFL));
  }
  BOOST_TEST((handler() == SIG_DFL));
}

BOOST_AUTO_TEST_CASE(a_signal_to_a_forked_child_ends_it_and_is_no_notice_for_its_parent) {
  preemption_notifier const notifier{io.get_executor(), SIGUSR2};
  pid_t const child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  BOOST_TEST_REQUIRE(child > 0);
  ::kill(child, SIGUSR2);
  int how = 0;
  BOOST_TEST_REQUIRE(::waitpid(child, &how, 0) == child);
  BOOST_TEST(WIFSIGNALED(how));
  BOOST_TEST(WTERMSIG(how) == SIGUSR2);

  bool noticed = false;
  asio::co_spawn(io, notifier.will_be_preempted_at(),
                 [&](std::exception_ptr problem, auto) { noticed = problem == nullptr; });
  io.poll();
  BOOST_TEST(!noticed);
  ::raise(SIGUSR2);
  while (!noticed) io.run_one();
}

BOOST_AUTO_TEST_CASE(a_forked_child_does_not_inherit_a_notifier) {
  { preemption_notifier const over{io.get_executor(), SIGUSR2}; }
  pid_t const child = ::fork();
  if (child == 0) {
    int code = 1;
    try {
      asio::io_context own{1};
      preemption_notifier const refused{own.get_executor(), SIGUSR2};
    } catch (error const& e) {
      code = e.code() == errc::failed_precondition ? 0 : 2;
    }
    ::_exit(code);
  }
  int how = 0;
  BOOST_TEST_REQUIRE(::waitpid(child, &how, 0) == child);
  BOOST_TEST((WIFEXITED(how) && WEXITSTATUS(how) == 0));
}

BOOST_AUTO_TEST_CASE(destructor_cancels_pending_calls) {
  run([this]() -> asio::awaitable<void> {
    std::optional<preemption_notifier> notifier;
    notifier.emplace(io.get_executor(), SIGUSR2);
    std::exception_ptr problem;
    asio::co_spawn(io, notifier->will_be_preempted_at(),
                   [&](std::exception_ptr p, auto) { problem = std::move(p); });
    co_await asio::post(asio::use_awaitable);
    notifier.reset();
    while (!problem) co_await asio::post(asio::use_awaitable);
    BOOST_TEST((code_of(problem) == errc::cancelled));
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
