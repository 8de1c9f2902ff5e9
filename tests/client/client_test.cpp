// Clients and the real coordinator, over real sockets, in one io_context: joining, failing, leaving
// and client properties.

#include "tests/client/two_clients.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

namespace coxswain::test {

BOOST_FIXTURE_TEST_SUITE(client_calls, two_clients)

BOOST_AUTO_TEST_CASE(tasks_connect_and_join_in_one_call) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto both =
        co_await (client::connect_and_join(options(0)) && client::connect_and_join(options(1)));
    a = std::move(std::get<0>(both));
    b = std::move(std::get<1>(both));
    auto const rounds = co_await (a.barrier("b", 60s) && b.barrier("b", 60s));
    BOOST_TEST(std::get<0>(rounds) == round_number{1});
    co_await (a.leave() && b.leave());
    co_await coordinator.job_done();
    BOOST_TEST((coordinator.error() == std::nullopt));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(clients_without_a_number_get_one) {
  auto const test = [this]() -> asio::awaitable<void> {
    a = co_await client::connect(options().with_member("b"));
    b = co_await client::connect(options().with_member("a"));
    BOOST_TEST(!a.task());
    co_await (a.join() && b.join());
    BOOST_TEST((a.task() == task_id{1}));
    BOOST_TEST((b.task() == task_id{0}));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_placement_has_parts) {
  BOOST_TEST((placement_of("pod/rack/b17") == std::vector<std::string>{"pod", "rack", "b17"}));
  BOOST_TEST(placement_of("").empty());
  BOOST_TEST((placement_of("b17") == std::vector<std::string>{"b17"}));
}

// Before and after the time in which they poll.
BOOST_AUTO_TEST_CASE(a_job_of_clients_that_spin) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both(options(0).with_spin(1ms));
    asio::steady_timer pause{io};
    for (std::uint64_t round = 1; round <= 20; ++round) {
      auto const both = co_await (a.barrier("b", 60s) && b.barrier("b", 60s));
      BOOST_TEST(std::get<0>(both) == round_number{round});
      if (round % 5 != 0) continue;
      pause.expires_after(3ms);
      co_await pause.async_wait(asio::use_awaitable);
    }
    co_await (a.leave() && b.leave());
    co_await coordinator.job_done();
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_reported_error_reaches_all_tasks) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    co_await a.report_error(errc::data_loss, "bad disk");
    auto const error = co_await b.failure();
    BOOST_TEST((error.cause.task == task_id{0}));
    BOOST_TEST(error.cause.why.code() == errc::data_loss);
    BOOST_TEST(error.cause.why.message() == "bad disk");
    auto const late = co_await outcome_of(b.barrier("b", 60s));
    BOOST_TEST(late.code() == errc::failed_precondition);
    auto const left = co_await outcome_of(b.leave());
    BOOST_TEST(left.code() == errc::failed_precondition);
    auto const after = co_await outcome_of(b.put("k", "v"));
    BOOST_TEST(after.code() == errc::failed_precondition);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(missed_heartbeat_callback_is_executed_if_any_client_goes_away_as_failure) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    a = client{};
    auto const error = co_await b.failure();
    BOOST_TEST((error.cause.task == task_id{0}));
    BOOST_TEST(error.cause.why.code() == errc::unavailable);

    auto const again = co_await b.failure();
    BOOST_TEST((again == error));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(get_env_succeeds_after_init_because_everything_is_known_at_once) {
  auto const test = [this]() -> asio::awaitable<void> {
    a = co_await client::connect(options(1));
    BOOST_TEST(a.num_tasks() == 2u);
    BOOST_TEST((a.task() == task_id{1}));
    BOOST_TEST((a.incarnation() != incarnation{}));
    BOOST_TEST(a.reconnects() == 0u);
    auto const other = co_await client::connect(options(0));
    BOOST_TEST((other.incarnation() != a.incarnation()));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(trim_coordination_error_message_coordination_error_has_no_repetition) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    auto const late = co_await outcome_of(a.barrier("ckpt", 10ms));
    BOOST_TEST(late.code() == errc::deadline_exceeded);
    BOOST_TEST(late.text().starts_with("DEADLINE_EXCEEDED: Barrier timed out. Barrier 'ckpt'"));
    BOOST_TEST(late.text().find("DEADLINE_EXCEEDED") == late.text().rfind("DEADLINE_EXCEEDED"));
    BOOST_TEST(late.text().find("timed out. ") == late.text().rfind("timed out. "));
    BOOST_TEST(late.text().find("'ckpt'") == late.text().rfind("'ckpt'"));

    co_await b.report_error(errc::data_loss, "bad disk");
    auto const failed = co_await outcome_of(a.barrier("ckpt"));
    BOOST_TEST(failed.code() == errc::failed_precondition);
    BOOST_TEST(failed.text().find("bad disk") == failed.text().rfind("bad disk"));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(trim_coordination_error_message_network_error_names_task_and_cause_once) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    coordinator.stop("preempted");
    auto const lost = co_await a.failure();
    BOOST_TEST((lost.cause.task == std::nullopt));
    auto const refused = co_await outcome_of(a.barrier("ckpt"));
    BOOST_TEST(refused.code() == errc::unavailable);
    BOOST_TEST(refused.message().find(options().address) != std::string::npos);
    BOOST_TEST(refused.message().find("preempted") != std::string::npos);
    BOOST_TEST(refused.message().find("preempted") == refused.message().rfind("preempted"));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(connect_after_reset_error_joins_the_same_incarnation_again) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both(recoverable(0));
    auto const healthy = co_await outcome_of(a.reset());
    BOOST_TEST(healthy.code() == errc::failed_precondition);

    co_await a.report_error(errc::data_loss, "bad disk");
    auto const failed = co_await outcome_of(a.barrier("b", 60s));
    BOOST_TEST(failed.code() == errc::failed_precondition);
    auto const refused = co_await outcome_of(a.join());
    BOOST_TEST(refused.code() == errc::aborted);
    co_await a.reset();
    auto const had_started = co_await a.join();

    BOOST_TEST(had_started);
    BOOST_TEST((coordinator.error() == std::nullopt));
    co_await (a.barrier("b", 60s) && b.barrier("b", 60s));
    co_await (a.leave() && b.leave());
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_refused_leave_to_return_does_not_change_the_client) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    leave_options returning;
    returning.returning = true;
    auto const refused = co_await outcome_of(a.leave(returning));
    BOOST_TEST(refused.code() == errc::invalid_argument);
    BOOST_TEST(refused.message().find("recoverable") != std::string::npos);
    co_await (a.leave() && b.leave());
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(close_waits_for_open_calls_to_end) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    status ended;
    auto waits = [&]() -> asio::awaitable<void> { ended = co_await outcome_of(a.barrier("b")); };
    asio::co_spawn(io, waits(), asio::detached);
    co_await asio::post(io, asio::use_awaitable);

    co_await a.close();

    BOOST_TEST(ended.code() == errc::cancelled);
    BOOST_CHECK_THROW(static_cast<void>(a.put("k", "v")), error);
    co_await a.close();
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(calls_of_a_destroyed_client_end_before_run_returns) {
  int ended = 0;
  auto const waits = [&]() -> asio::awaitable<void> {
    auto const outcome = co_await outcome_of(a.barrier("b"));
    if (outcome.code() == errc::cancelled) ++ended;
  };
  auto const test = [&]() -> asio::awaitable<void> {
    co_await join_both();
    asio::co_spawn(io, waits(), asio::detached);
    co_await asio::post(io, asio::use_awaitable);
    a = client{};
    b = client{};
    coordinator.stop("test");
  };
  asio::co_spawn(io, test(), asio::detached);
  io.run();
  BOOST_TEST(ended == 1);
}

BOOST_AUTO_TEST_CASE(a_timeout_may_have_any_unit_and_length) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    co_await (a.barrier("b", std::chrono::hours::max()) && b.barrier("b", 1.5s));
    auto const now = co_await outcome_of(a.get("k", -std::chrono::hours{1}));
    BOOST_TEST(now.code() == errc::deadline_exceeded);
    barrier_options with{std::chrono::minutes::max()};
    with.progress_every = std::chrono::hours::max();
    with.on_progress = [](core::barrier_progress const&) {};
    co_await (a.barrier("c", with) && b.barrier("c", std::chrono::years::max()));
    co_await a.preempt(std::chrono::hours::max());
    co_await (a.leave(std::chrono::hours::max()) && b.leave());
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(get_own_task_is_known_at_once_and_get_own_task_uninitialized_is_none) {
  auto const test = [this]() -> asio::awaitable<void> {
    BOOST_TEST((a.task() == std::nullopt));
    a = co_await client::connect(options(1));
    BOOST_TEST((a.task() == task_id{1}));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_client_that_is_destroyed_fails_its_task_at_once) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    auto const begin = std::chrono::steady_clock::now();
    a = client{};
    auto const error = co_await b.failure();
    BOOST_TEST((error.cause.task == task_id{0}));
    BOOST_TEST((std::chrono::steady_clock::now() - begin < 1500ms));  // not only after the grace
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_stopped_coordinator_ends_calls_and_is_a_failure) {
  auto const test = [this]() -> asio::awaitable<void> {
    std::vector<std::string> events;
    auto with = options(0);
    with.on_event = [&events](client_event const& e) { events.push_back(e.text()); };
    auto c = co_await client::connect(std::move(with));
    auto const stop = [this]() -> asio::awaitable<void> {
      while (coordinator.look().waiting_gets == 0) co_await asio::post(io, asio::use_awaitable);
      coordinator.stop("maintenance");
    };
    auto const outcome = co_await (outcome_of(c.get("k", 60s)) && stop());
    BOOST_TEST(outcome.code() == errc::cancelled);
    auto const error = co_await c.failure();
    BOOST_TEST(error.cause.why.code() == errc::unavailable);
    BOOST_TEST((error.cause.task == std::nullopt));
    co_await asio::post(io, asio::use_awaitable);
    BOOST_TEST(events.size() == 2u);
    BOOST_TEST(events.at(0).starts_with("goodbye: UNAVAILABLE"));
    BOOST_TEST(events.at(1).starts_with("lost: UNAVAILABLE"));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(cancelling_a_join_removes_its_arrival) {
  auto const test = [this]() -> asio::awaitable<void> {
    a = co_await client::connect(options(0));
    asio::steady_timer timer{io, 20ms};
    auto const first = co_await (a.join() || timer.async_wait(asio::use_awaitable));
    BOOST_TEST(first.index() == 1u);
    auto const picture = co_await a.inspect();
    BOOST_TEST((picture.tasks.at(0).state == task_state::never_connected));
    b = co_await client::connect(options(1));
    co_await (a.join() && b.join());
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(client_addresses)

BOOST_AUTO_TEST_CASE(addresses_may_be_names_numbers_or_unix_paths) {
  asio::io_context io{1};
  auto with = server_options(1);
  std::string const path = "/tmp/coxswain-client-test-" + std::to_string(::getpid());
  with.listen = {"127.0.0.1:0", "unix:" + path};
  server::server coordinator{io, with};
  asio::co_spawn(io, coordinator.run(), asio::detached);
  std::string const number = coordinator.addresses().at(0);
  std::string const port = number.substr(number.rfind(':'));
  auto const test = [&]() -> asio::awaitable<void> {
    for (std::string const& address : {number, "localhost" + port, port, "unix:" + path}) {
      BOOST_TEST_CONTEXT(address) {
        client_options at{address};
        auto c = co_await client::connect(std::move(at));
        auto const count = co_await c.increment("n");
        BOOST_TEST(count > 0);
      }
    }
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_client_waits_for_a_coordinator_that_starts_later) {
  asio::io_context io{1};
  std::string const path = "/tmp/coxswain-client-late-" + std::to_string(::getpid());
  auto with = server_options(1);
  with.listen = {"unix:" + path};
  std::optional<server::server> coordinator;
  auto const begin_late = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer{io, 50ms};
    co_await timer.async_wait(asio::use_awaitable);
    coordinator.emplace(io, with);
    asio::co_spawn(io, coordinator->run(), asio::detached);
  };
  auto const test = [&]() -> asio::awaitable<void> {
    client_options at{"unix:" + path};
    auto c = co_await (client::connect(std::move(at)) && begin_late());
    auto const count = co_await c.increment("n");
    BOOST_TEST(count == 1);
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
