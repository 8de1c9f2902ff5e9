// The client on a real socket against a coordinator that does what the test says: loss, goodbyes,
// cancellation, lifetimes.

#include "tests/client/agent_lab.hpp"
#include "tests/client/fake_coordinator.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/test/unit_test.hpp>

#include <unistd.h>

namespace coxswain::test {
namespace {

using namespace asio::experimental::awaitable_operators;

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != text.npos;
}

// Starts a call whose outcome is noted: "ok", or what it threw.
template <class T>
void note(asio::io_context& io, asio::awaitable<T> call, std::string& outcome) {
  asio::co_spawn(io, std::move(call), [&outcome](std::exception_ptr failure, auto const&...) {
    try {
      if (failure) std::rethrow_exception(failure);
      outcome = "ok";
    } catch (std::exception const& e) {
      outcome = e.what();
    }
  });
}

// A handler that notes whether a coroutine was cancelled by `stop`.
class cancellable {
 public:
  using cancellation_slot_type = asio::cancellation_slot;

  cancellable(asio::cancellation_signal& stop, std::string& outcome)
      : slot_{stop.slot()}, outcome_{&outcome} {}

  [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

  void operator()(std::exception_ptr failure, job_error const&) const {
    try {
      if (failure) std::rethrow_exception(failure);
      *outcome_ = "ok";
    } catch (boost::system::system_error const& e) {
      *outcome_ = e.code() == asio::error::operation_aborted ? "operation_aborted" : e.what();
    }
  }

 private:
  asio::cancellation_slot slot_;
  std::string* outcome_;
};

asio::awaitable<void> next_turn() {
  for (int i = 0; i < 3; ++i) {
    auto executor = co_await asio::this_coro::executor;
    co_await asio::post(executor, asio::use_awaitable);
  }
}

asio::awaitable<void> until(asio::io_context& io, bool const& condition) {
  while (!condition) co_await asio::post(io, asio::use_awaitable);
}

class fixture {
 protected:
  asio::io_context io{1};
  fake_coordinator fake{io};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_connection, fixture)

BOOST_AUTO_TEST_CASE(hello_says_who_calls) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto options = fake.options();
    options.job = "night";
    options.attempt = 3;
    options.token = "secret";
    options.incarnation = incarnation{77};
    auto const c = co_await fake.welcome(options);
    auto const hello = std::get<core::hello_args>(fake.message().what);
    BOOST_TEST(hello.job == "night");
    BOOST_TEST(hello.attempt.value() == 3u);
    BOOST_TEST(hello.token == "secret");
    BOOST_TEST(hello.label.ends_with(":" + std::to_string(::getpid())));
    BOOST_TEST(c.num_tasks() == 4u);
    BOOST_TEST((c.task() == task_id{1}));
    BOOST_TEST(c.incarnation() == incarnation{77});
    BOOST_TEST(c.reconnects() == 0u);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(incarnations_are_drawn_at_random) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto const a = co_await fake.welcome(fake.options());
    auto const b = co_await fake.welcome(fake.options());
    BOOST_TEST((a.incarnation() != b.incarnation()));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_malformed_address_is_refused) {
  auto const test = []() -> asio::awaitable<void> {
    try {
      client_options options{"b12"};
      auto const c = co_await client::connect(std::move(options));
      BOOST_ERROR("connected");
    } catch (error const& e) {
      BOOST_TEST(e.code() == errc::invalid_argument);
    }
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(connecting_in_vain_says_where_how_often_and_why) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto options = fake.options();
    options.connect_timeout = 100ms;
    fake.go();
    try {
      auto const c = co_await client::connect(options);
      BOOST_ERROR("connected");
    } catch (error const& e) {
      BOOST_TEST(e.code() == errc::deadline_exceeded);
      BOOST_TEST(contains(e.what(), "DEADLINE_EXCEEDED: no coordinator could be reached at " +
                                        options.address + " within 100 ms ("));
      BOOST_TEST(
          contains(e.what(), "connecting to " + options.address + " failed: Connection refused"));
    }
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_fatal_refusal_is_thrown_at_once) {
  auto const refuse = [this]() -> asio::awaitable<void> {
    co_await fake.accept();
    (void)co_await fake.read();
    co_await fake.say(goodbye(errc::unauthenticated, "wrong token", false));
  };
  auto const test = [this, &refuse]() -> asio::awaitable<void> {
    try {
      co_await (client::connect(fake.options()) && refuse());
      BOOST_ERROR("connected");
    } catch (error const& e) {
      BOOST_TEST(contains(e.what(), "UNAUTHENTICATED: wrong token"));
    }
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_lost_connection_is_resumed_and_told) {
  std::vector<std::string> events;
  auto const test = [this, &events]() -> asio::awaitable<void> {
    auto options = fake.options();
    options.on_event = [&events](client_event const& e) {
      events.push_back(e.text());
      throw 1;  // is dropped
    };
    auto c = co_await fake.welcome(std::move(options));
    std::string got;
    note(io, c.get("k"), got);
    auto sent = co_await fake.read();
    BOOST_TEST(sent == "#1 get k 300 s");

    fake.hang_up();
    co_await fake.accept();
    sent = co_await fake.read();
    BOOST_TEST(sent == "resume 1");
    co_await fake.say(unknown({}));
    co_await fake.reply(1, answer_of("v"));
    while (got.empty()) co_await next_turn();

    BOOST_TEST(got == "ok");
    BOOST_TEST(c.reconnects() == 1u);
    BOOST_TEST(events.size() == 2u);
    BOOST_TEST(contains(events.at(0), "disconnected: UNAVAILABLE: the connection to " +
                                          fake.address() + " was lost: closed by the coordinator"));
    BOOST_TEST(contains(events.at(1), "reconnected after "));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(views_need_not_outlive_the_call_expression) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    std::optional<asio::awaitable<void>> put;
    {
      std::string key = "a key that is too long for the small buffer";
      std::string value = "a value that is too long for the small buffer";
      put.emplace(c.put(key, value));
      key.assign(key.size(), '-');
      value.assign(value.size(), '-');
    }
    std::string outcome;
    note(io, *std::move(put), outcome);
    auto const sent = co_await fake.read();
    BOOST_TEST(sent == "#1 put a key that is too long for the small buffer");
    auto const args = std::get<core::put_args>(fake.message().what);
    BOOST_TEST(args.value == "a value that is too long for the small buffer");
  };
  run(io, test());
}

// --- Cancellation ---

BOOST_AUTO_TEST_CASE(a_cancelled_call_is_withdrawn_and_leaves_others_alone) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    std::string other;
    note(io, c.get("other"), other);
    (void)co_await fake.read();

    asio::steady_timer timer{io, 1ms};
    auto const first = co_await (c.get("k") || timer.async_wait(asio::use_awaitable));
    BOOST_TEST(first.index() == 1u);
    auto sent = co_await fake.read();
    BOOST_TEST(sent == "#2 get k 300 s");
    sent = co_await fake.read();
    BOOST_TEST(sent == "withdraw 2");

    co_await fake.reply(2, answer_of("late"));
    co_await fake.reply(1, answer_of("v"));
    while (other.empty()) co_await next_turn();
    BOOST_TEST(other == "ok");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(the_answer_wins_against_a_timer_that_is_late) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    asio::steady_timer timer{io, 60s};
    auto const answer = [this]() -> asio::awaitable<void> {
      (void)co_await fake.read();
      co_await fake.reply(1, answer_of("v"));
      (void)co_await fake.read();
    };
    auto const first = co_await (c.get("k") || timer.async_wait(asio::use_awaitable) || answer());
    BOOST_TEST(std::get<0>(first) == "v");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_cancelled_coroutine_gets_operation_aborted) {
  asio::cancellation_signal stop;
  std::string outcome;
  auto const test = [&]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    asio::co_spawn(io, c.failure(), cancellable{stop, outcome});
    co_await next_turn();
    BOOST_TEST(outcome == "");

    stop.emit(asio::cancellation_type::terminal);

    while (outcome.empty()) co_await next_turn();
    BOOST_TEST(outcome == "operation_aborted");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(connecting_can_be_cancelled) {
  auto const test = [this]() -> asio::awaitable<void> {
    asio::steady_timer timer{io, 20ms};
    auto options = fake.options();
    auto const first =
        co_await (client::connect(std::move(options)) || timer.async_wait(asio::use_awaitable));
    BOOST_TEST(first.index() == 1u);
  };
  run(io, test());
}

// --- The end ---

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

BOOST_AUTO_TEST_CASE(a_client_goes_on_in_the_one_it_is_moved_to) {
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
    co_await next_turn();
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
    while (outcome.empty()) co_await next_turn();
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
    co_await next_turn();
    BOOST_TEST(outcome == "FAILED_PRECONDITION: this client has left the job");
    fake.go();
  };
  run(io, test());
  io.run_for(60s);
  BOOST_TEST(io.stopped());
}

BOOST_AUTO_TEST_CASE(a_leave_that_failed_ends_the_session_too) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    std::string outcome;
    note(io, c.join(), outcome);
    (void)co_await fake.read();
    core::answer joined;
    joined.value = core::join_answer{};
    co_await fake.reply(1, joined);
    while (outcome.empty()) co_await next_turn();
    note(io, c.leave(), outcome);
    (void)co_await fake.read();
    core::answer failed;
    failed.outcome = status{errc::internal, "task 3 died"};
    co_await fake.reply(2, failed);
    auto const sent = co_await fake.read();
    BOOST_TEST(sent == "bye ack=2");
    co_await next_turn();
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
    while (outcome.empty()) co_await next_turn();
    outcome.clear();
    note(io, c.leave(), outcome);
    (void)co_await fake.read();

    fake.go();

    while (outcome.empty()) co_await next_turn();
    BOOST_TEST(outcome == "ok");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_job_error_completes_all_who_wait_for_a_failure) {
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

    auto const told = co_await c.failure();
    BOOST_TEST((told == what));
    for (auto const& outcome : outcomes) BOOST_TEST(outcome == "ok");
    auto const again = co_await c.failure();
    BOOST_TEST((again == what));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(losing_the_coordinator_for_good_is_a_failure) {
  std::vector<std::string> events;
  auto const test = [this, &events]() -> asio::awaitable<void> {
    auto options = fake.options();
    options.fence_after = 50ms;
    options.on_event = [&events](client_event const& e) { events.push_back(e.text()); };
    auto c = co_await fake.welcome(std::move(options));
    std::string got;
    note(io, c.get("k"), got);

    auto const told = co_await c.failure();

    BOOST_TEST((told.cause.task == std::nullopt));
    BOOST_TEST(told.cause.why.code() == errc::unavailable);
    co_await next_turn();
    BOOST_TEST(contains(got, "UNAVAILABLE: outcome unknown: nothing was heard of the coordinator"));
    BOOST_TEST(events.size() == 1u);
    BOOST_TEST(contains(events.at(0), "lost: UNAVAILABLE: nothing was heard"));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(progress_is_told_until_the_call_ends) {
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
    while (outcome.empty()) co_await next_turn();

    BOOST_TEST(outcome == "ok");
    BOOST_TEST((missing == std::vector<std::string>{"2-3", "3"}));
  };
  run(io, test());
}

// --- A peer that does not read ---

BOOST_AUTO_TEST_CASE(a_peer_that_reads_slowly_gets_everything) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    constexpr int count = 4'000;  // more than socket buffers hold
    std::vector<std::string> outcomes(count);
    std::string const value(5'000, 'v');
    for (auto& outcome : outcomes) note(io, c.put("k", value, put_mode::overwrite), outcome);
    co_await next_turn();
    for (std::uint64_t id = 1; id <= count; ++id) {
      (void)co_await fake.read();
      BOOST_TEST(fake.message().id == request_id{id});
      co_await fake.reply_ok(id);
    }
    while (outcomes.back().empty()) co_await next_turn();
    for (auto const& outcome : outcomes) BOOST_TEST(outcome == "ok");
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

// --- Lifetimes: whatever ends first, nothing leaks and nothing is used after its end ---

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
    for (int i = 0; i < 100; ++i) co_await next_turn();
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
    co_await next_turn();
  };
  run(io, test());
  outside.reset();
}

BOOST_AUTO_TEST_CASE(a_client_may_end_while_its_own_event_is_told) {
  asio::io_context io{1};
  fake_coordinator fake{io};
  std::optional<client> c;
  bool told = false;
  auto const test = [&]() -> asio::awaitable<void> {
    auto options = fake.options();
    options.on_event = [&](client_event const&) {
      told = true;
      c.reset();
    };
    c = co_await fake.welcome(std::move(options));
    fake.hang_up();
    co_await until(io, told);
    co_await fake.accept();
  };
  run(io, test());
  BOOST_TEST(!c);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
