// How a client on a real socket ends: leaving, failing, and being destroyed in every order.

#include "tests/client/agent_lab.hpp"
#include "tests/client/fake_coordinator.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {

BOOST_FIXTURE_TEST_SUITE(client_end, fake_fixture)

BOOST_AUTO_TEST_CASE(a_client_that_is_destroyed_says_bye_and_ends_its_calls) {
  auto const test = [this]() -> asio::awaitable<void> {
    std::string got;
    std::string failed;
    {
      auto c = co_await fake.welcome(fake.options());
      note(io, c.get("k"), got);
      note(io, c.failure(), failed);
      (void)co_await fake.read();
    }
    auto sent = co_await fake.read();
    BOOST_TEST(sent == "bye abandoned");
    sent = co_await fake.read();
    BOOST_TEST(sent == "end");
    BOOST_TEST(got == "CANCELLED: the client was destroyed");
    BOOST_TEST(failed == "CANCELLED: the client was destroyed");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_moved_client_continues_in_its_target) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto a = co_await fake.welcome(fake.options());
    client b{std::move(a)};
    std::string put;
    note(io, b.put("k", "v"), put);
    auto sent = co_await fake.read();
    BOOST_TEST(sent == "#1 put k");

    std::string empty;
    note(io, asio::awaitable<void>{[](client& moved) -> asio::awaitable<void> {
           co_await moved.put("k", "v");
         }(a)},
         empty);
    co_await next_iteration();
    BOOST_TEST(contains(empty, "FAILED_PRECONDITION: this client has no session"));

    b = client{};
    sent = co_await fake.read();
    BOOST_TEST(sent == "bye abandoned");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(leave_ends_the_session_and_the_work_of_the_context) {
  std::optional<client> c;
  auto const test = [this, &c]() -> asio::awaitable<void> {
    c = co_await fake.welcome(fake.options());
    std::string outcome;
    note(io, c->join(), outcome);
    (void)co_await fake.read();
    core::answer joined;
    joined.value = core::join_answer{};
    co_await fake.reply(1, joined);
    while (outcome.empty()) co_await next_iteration();
    outcome.clear();
    note(io, c->leave(), outcome);
    auto sent = co_await fake.read();
    BOOST_TEST(sent == "#2 leave 300 s ack=1");
    co_await fake.reply_ok(2);
    sent = co_await fake.read();
    BOOST_TEST(sent == "bye ack=2");
    sent = co_await fake.read();
    BOOST_TEST(sent == "end");
    BOOST_TEST(outcome == "ok");

    note(io, c->put("k", "v"), outcome);
    co_await next_iteration();
    BOOST_TEST(outcome == "FAILED_PRECONDITION: this client has left the job");
    fake.go();
  };
  run(io, test());
  io.run_for(60s);
  BOOST_TEST(io.stopped());
}

BOOST_AUTO_TEST_CASE(a_failed_leave_also_ends_the_session) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    std::string outcome;
    note(io, c.join(), outcome);
    (void)co_await fake.read();
    core::answer joined;
    joined.value = core::join_answer{};
    co_await fake.reply(1, joined);
    while (outcome.empty()) co_await next_iteration();
    note(io, c.leave(), outcome);
    (void)co_await fake.read();
    core::answer failed;
    failed.outcome = status{errc::internal, "task 3 died"};
    co_await fake.reply(2, failed);
    auto const sent = co_await fake.read();
    BOOST_TEST(sent == "bye ack=2");
    co_await next_iteration();
    BOOST_TEST(outcome == "INTERNAL: task 3 died");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_task_that_never_joined_leaves_with_a_bye) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    co_await c.leave();
    auto const sent = co_await fake.read();
    BOOST_TEST(sent == "bye");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(leave_succeeds_when_the_coordinator_has_gone) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    std::string outcome;
    note(io, c.join(), outcome);
    (void)co_await fake.read();
    core::answer joined;
    joined.value = core::join_answer{};
    co_await fake.reply(1, joined);
    while (outcome.empty()) co_await next_iteration();
    outcome.clear();
    note(io, c.leave(), outcome);
    (void)co_await fake.read();

    fake.go();

    while (outcome.empty()) co_await next_iteration();
    BOOST_TEST(outcome == "ok");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_job_error_completes_all_waits_for_a_failure) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    std::string outcomes[2];
    for (auto& outcome : outcomes) note(io, c.failure(), outcome);
    core::answer failed;
    job_error what;
    what.cause.task = task_id{3};
    what.cause.why = status{errc::unavailable, "it died"};
    failed.value = what;
    co_await fake.say(failed);

    auto const error = co_await c.failure();
    BOOST_TEST((error == what));
    for (auto const& outcome : outcomes) BOOST_TEST(outcome == "ok");
    auto const again = co_await c.failure();
    BOOST_TEST((again == what));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(losing_the_coordinator_permanently_is_a_failure) {
  std::vector<std::string> events;
  auto const test = [this, &events]() -> asio::awaitable<void> {
    auto options = fake.options();
    options.fence_after = 50ms;
    options.on_event = [&events](client_event const& e) { events.push_back(e.text()); };
    auto c = co_await fake.welcome(std::move(options));
    std::string got;
    note(io, c.get("k"), got);

    auto const error = co_await c.failure();

    BOOST_TEST((error.cause.task == std::nullopt));
    BOOST_TEST(error.cause.why.code() == errc::unavailable);
    co_await next_iteration();
    BOOST_TEST(contains(got, "UNAVAILABLE: outcome unknown: no message from the coordinator"));
    BOOST_TEST(events.size() == 1u);
    BOOST_TEST(contains(events.at(0), "lost: UNAVAILABLE: no message from the coordinator"));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(progress_is_reported_until_the_call_ends) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    std::vector<std::string> missing;
    barrier_options options{60s};
    options.on_progress = [&missing](core::barrier_progress const& p) {
      missing.push_back(p.missing);
      throw 1;  // is dropped
    };
    options.progress_every = 20ms;
    std::string outcome;
    note(io, c.barrier("b", options), outcome);
    auto const sent = co_await fake.read();
    BOOST_TEST(sent == "#1 barrier b 60 s");
    BOOST_TEST((std::get<core::barrier_args>(fake.message().what).progress_every == 20ms));
    core::barrier_progress progress;
    progress.request = request_id{1};
    for (char const* who : {"2-3", "3"}) {
      progress.missing = who;
      core::answer push;
      push.value = progress;
      co_await fake.say(push);
    }
    core::answer released;
    released.value = core::barrier_answer{round_number{1}, {}};
    co_await fake.reply(1, released);
    while (outcome.empty()) co_await next_iteration();

    BOOST_TEST(outcome == "ok");
    BOOST_TEST((missing == std::vector<std::string>{"2-3", "3"}));
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(client_lifetime)

BOOST_AUTO_TEST_CASE(a_context_may_end_before_its_clients_and_their_calls) {
  std::optional<client> outside;
  std::string got;
  {
    asio::io_context io{1};
    fake_coordinator fake{io};
    auto const test = [&]() -> asio::awaitable<void> {
      outside = co_await fake.welcome(fake.options());
      note(io, outside->get("k"), got);
      (void)co_await fake.read();
    };
    run(io, test());
  }
  BOOST_TEST(got == "");
}

BOOST_AUTO_TEST_CASE(a_context_may_end_with_a_client_inside_a_coroutine) {
  asio::io_context io{1};
  fake_coordinator fake{io};
  auto const inside = [&]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    (void)co_await c.get("k");
  };
  auto started = inside();
  asio::co_spawn(io, std::move(started), asio::detached);
  auto const test = [&]() -> asio::awaitable<void> {
    for (int i = 0; i < 100; ++i) co_await next_iteration();
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_context_may_end_while_a_client_connects) {
  asio::io_context io{1};
  fake_coordinator fake{io};
  auto connecting = client::connect(fake.options());
  asio::co_spawn(io, std::move(connecting), asio::detached);
  io.poll_one();
  io.poll_one();
}

BOOST_AUTO_TEST_CASE(a_context_may_end_while_a_client_reconnects) {
  std::optional<client> outside;
  asio::io_context io{1};
  fake_coordinator fake{io};
  auto const test = [&]() -> asio::awaitable<void> {
    outside = co_await fake.welcome(fake.options());
    fake.go();
    co_await next_iteration();
  };
  run(io, test());
  outside.reset();
}

BOOST_AUTO_TEST_CASE(a_client_may_be_destroyed_by_its_own_event_callback) {
  asio::io_context io{1};
  fake_coordinator fake{io};
  std::optional<client> c;
  bool is_notified = false;
  auto const test = [&]() -> asio::awaitable<void> {
    auto options = fake.options();
    options.on_event = [&](client_event const&) {
      is_notified = true;
      c.reset();
    };
    c = co_await fake.welcome(std::move(options));
    fake.hang_up();
    while (!is_notified) co_await next_iteration();
    co_await fake.accept();
  };
  run(io, test());
  BOOST_TEST(!c);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
