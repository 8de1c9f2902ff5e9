#include "coxswain/server/background_server.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/server/server.hpp"
#include "tests/server/raw_client.hpp"

#include <boost/test/unit_test.hpp>

#include <signal.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace coxswain::server {
namespace {

options for_tasks(std::uint32_t tasks) {
  options o;
  o.core.num_tasks = tasks;
  return o;
}

struct fixture {
  raw_client connect(background_server const& to) { return {io, to.addresses().front()}; }

  asio::io_context io{1};  // unused: the raw client needs an io_context to run
};

BOOST_FIXTURE_TEST_SUITE(background_server_test, fixture)

BOOST_AUTO_TEST_CASE(the_server_serves_after_construction) {
  background_server made{for_tasks(1)};
  auto client = connect(made);

  BOOST_TEST(client.greet().num_tasks == 1u);
  BOOST_TEST(client.ask(join_frame(1, 0)).what.outcome.ok());
  BOOST_TEST(made.ask(&server::look).sessions == 1u);
  BOOST_TEST((made.ask(&server::look).tasks.at(0).state == task_state::connected));
  BOOST_TEST(!made.ask(&server::error).has_value());
}

BOOST_AUTO_TEST_CASE(companion_objects_run_on_the_server_thread) {
  background_server made{for_tasks(3)};
  std::thread::id thread;
  std::size_t tasks{};
  auto const look = [&](asio::io_context&, server& beside) {
    thread = std::this_thread::get_id();
    tasks = beside.look().tasks.size();
  };

  made.run(look);

  BOOST_TEST((thread != std::this_thread::get_id()));
  BOOST_TEST(tasks == 3u);
  auto const refuse = [](asio::io_context&, server&) { throw error{{errc::unavailable, "no"}}; };
  BOOST_CHECK_THROW(made.run(refuse), error);
  BOOST_TEST(!made.ask(&server::recording).empty());
}

BOOST_AUTO_TEST_CASE(invalid_options_throw) {
  auto o = for_tasks(1);
  o.listen = {"nonsense"};

  BOOST_CHECK_THROW(background_server{o}, error);
}

BOOST_AUTO_TEST_CASE(a_stop_returns_when_the_peers_have_read_their_goodbye) {
  background_server made{for_tasks(1)};
  auto client = connect(made);
  client.greet();
  std::atomic<bool> stopped{};
  std::thread stopper{[&] {
    made.stop("enough");
    stopped = true;
  }};

  BOOST_TEST(contains(client.goodbye().why.message(), "enough"));
  client.close();
  stopper.join();

  BOOST_TEST(stopped);
  made.stop("again");
  made.wait_done();
  BOOST_TEST(made.ask(&server::look).sessions == 0u);
}

BOOST_AUTO_TEST_CASE(a_reported_task_end_takes_effect_at_once) {
  background_server made{for_tasks(1)};
  auto client = connect(made);
  client.greet();
  BOOST_TEST(client.ask(join_frame(1, 0)).what.outcome.ok());

  BOOST_TEST(
      (made.ask([&](server& s) {
             return s.put_in(core::process_ended{task_id{0}, {errc::internal, "exit code 3"}});
           })
           .ok()));

  BOOST_TEST_REQUIRE(made.ask(&server::error).has_value());
  BOOST_TEST(contains(made.ask(&server::error)->cause.why.message(), "exit code 3"));
  made.wait_done();  // the only task has failed
}

BOOST_AUTO_TEST_CASE(wait_returns_when_all_tasks_have_left) {
  background_server made{for_tasks(1)};
  auto client = connect(made);
  client.greet();
  BOOST_TEST(client.ask(join_frame(1, 0)).what.outcome.ok());
  BOOST_TEST(client.ask(frame(core::leave_args{}, 2, task_id{0}, 1)).what.outcome.ok());
  client.send(frame(core::bye_args{}, 0, std::nullopt, 2));

  made.wait_done();

  BOOST_TEST((made.ask(&server::look).tasks.at(0).state == task_state::left));
}

BOOST_AUTO_TEST_CASE(many_threads_can_call_the_server) {
  background_server made{for_tasks(4)};
  std::vector<std::thread> threads;
  std::atomic<int> answers{};
  for (std::uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 100; ++k) {
        if (made.ask(&server::look).tasks.size() == 4) ++answers;
        made.ask([&](server& s) {
          static_cast<void>(s.put_in(core::process_ended{task_id{i}, {errc::internal, "x"}}));
        });
      }
      if (i == 0) made.stop("enough");
    });
  }
  for (auto& one : threads) one.join();

  BOOST_TEST(answers == 400);
}

BOOST_AUTO_TEST_CASE(the_log_callback_may_call_the_server) {
  std::atomic<background_server*> pointer{};
  std::atomic<bool> called{};
  auto o = for_tasks(1);
  o.log = [&](core::event const&) {
    if (auto* const self = pointer.load()) {
      called = self->ask(&server::look).tasks.size() == 1;
      self->stop("the log says so");
    }
  };
  background_server made{o};
  auto client = connect(made);
  client.greet();
  pointer = &made;
  client.send(join_frame(1, 0));

  made.wait_done();

  BOOST_TEST(called);
  pointer = nullptr;
}

BOOST_AUTO_TEST_CASE(the_destructor_stops_the_server) {
  std::optional<background_server> made{for_tasks(1)};
  auto client = connect(*made);
  client.greet();
  std::thread destroyer{[&] { made.reset(); }};

  BOOST_TEST(client.goodbye().why.code() == errc::unavailable);
  client.close();
  destroyer.join();
}

BOOST_AUTO_TEST_CASE(the_creating_thread_keeps_its_signal_mask) {
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  background_server const made{for_tasks(1)};

  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int const signal : {SIGINT, SIGTERM, SIGUSR1}) {
    BOOST_TEST(sigismember(&after, signal) == sigismember(&before, signal));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
