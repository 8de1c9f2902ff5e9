// The client on a real socket against a scripted coordinator: loss, goodbyes, cancellation,
// lifetimes.

#include "tests/client/agent_lab.hpp"
#include "tests/client/fake_coordinator.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/test/unit_test.hpp>

#include <unistd.h>

namespace coxswain::test {
namespace {

using namespace asio::experimental::awaitable_operators;

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

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_connection, fake_fixture)

BOOST_AUTO_TEST_CASE(hello_identifies_the_client) {
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

BOOST_AUTO_TEST_CASE(a_failed_connect_names_address_attempts_and_cause) {
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
  auto const test = [&refuse](asio::awaitable<client> opening) -> asio::awaitable<void> {
    try {
      co_await (std::move(opening) && refuse());
      BOOST_ERROR("connected");
    } catch (error const& e) {
      BOOST_TEST(contains(e.what(), "UNAUTHENTICATED: wrong token"));
    }
  };
  run(io, test(client::connect(fake.options())));
  run(io, test(client::connect_and_join(fake.options())));
}

BOOST_AUTO_TEST_CASE(connect_and_join_sends_the_join_with_the_hello) {
  auto const serve = [this]() -> asio::awaitable<void> {
    co_await fake.accept();
    for (auto const* const expected : {"hello", "#1 join 20 s with hello"}) {
      auto const sent = co_await fake.read();
      BOOST_TEST(sent == expected);
    }
    core::answer welcome;
    welcome.value = hello_answer();
    co_await fake.say(std::move(welcome));
    core::answer joined;
    joined.value = core::join_answer{};
    co_await fake.reply(1, std::move(joined));
  };
  auto const test = [this, &serve]() -> asio::awaitable<void> {
    auto c = co_await (client::connect_and_join(fake.options(), 20s) && serve());
    BOOST_TEST(c.num_tasks() == 4u);
    std::string left;
    note(io, c.leave(), left);
    auto const sent = co_await fake.read();
    BOOST_TEST(sent == "#2 leave 300 s ack=1");
  };
  run(io, test());
}

// A number that is chosen by the coordinator, and an incarnation that another session may have.
BOOST_AUTO_TEST_CASE(connect_and_join_waits_for_the_session_if_it_may_not_be_the_only_one) {
  auto const serve = [this]() -> asio::awaitable<void> {
    co_await fake.welcome();
    auto const sent = co_await fake.read();
    BOOST_TEST(sent == "#1 join 20 s");
    core::answer joined;
    joined.value = core::join_answer{};
    co_await fake.reply(1, std::move(joined));
  };
  auto const joins = [&serve](client_options options) -> asio::awaitable<void> {
    auto const c = co_await (client::connect_and_join(std::move(options), 20s) && serve());
    BOOST_TEST(c.num_tasks() == 4u);
  };
  client_options as_any{fake.address()};
  as_any.any = true;
  run(io, joins(as_any));
  auto as_before = fake.options();
  as_before.incarnation = incarnation{77};
  run(io, joins(as_before));
}

BOOST_AUTO_TEST_CASE(connect_and_join_ends_the_session_if_the_join_fails) {
  auto const refuse = [this]() -> asio::awaitable<void> {
    co_await fake.welcome();
    core::answer refused;
    refused.outcome = status{errc::deadline_exceeded, "3 of 4 tasks missing"};
    co_await fake.reply(1, std::move(refused));
  };
  auto const test = [this, &refuse]() -> asio::awaitable<void> {
    try {
      co_await (client::connect_and_join(fake.options()) && refuse());
      BOOST_ERROR("joined");
    } catch (error const& e) {
      BOOST_TEST(std::string{e.what()} == "DEADLINE_EXCEEDED: 3 of 4 tasks missing");
    }
    std::string all;
    std::string sent;
    while (sent != "end") {
      sent = co_await fake.read();
      all += sent + " | ";
    }
    BOOST_TEST(all == "#1 join 300 s with hello | bye abandoned ack=1 | end | ");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(connect_and_join_can_be_cancelled_before_the_session_exists) {
  asio::cancellation_signal stop;
  std::string outcome;
  auto const done = [&outcome](std::exception_ptr failure, client const&) {
    try {
      std::rethrow_exception(failure);
    } catch (error const& e) {
      outcome = e.what();
    }
  };
  asio::co_spawn(io, client::connect_and_join(fake.options()),
                 asio::bind_cancellation_slot(stop.slot(), done));
  auto const test = [this, &stop, &outcome]() -> asio::awaitable<void> {
    co_await fake.accept();
    (void)co_await fake.read();
    stop.emit(asio::cancellation_type::terminal);
    std::string last;
    for (std::string sent; sent != "end"; last += sent + " | ") sent = co_await fake.read();
    BOOST_TEST(last == "#1 join 300 s with hello | bye abandoned | end | ");
    BOOST_TEST(outcome == "CANCELLED: the caller cancelled the call");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_lost_connection_is_resumed_and_reported) {
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
    auto resumed = unknown({});
    co_await fake.say(std::move(resumed));
    co_await fake.reply(1, answer_of("v"));
    while (got.empty()) co_await next_iteration();

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
    std::optional<asio::awaitable<std::uint64_t>> put;
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

BOOST_AUTO_TEST_CASE(cancelling_a_call_does_not_affect_others) {
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
    BOOST_TEST(sent == "cancel 2");

    co_await fake.reply(2, answer_of("late"));
    co_await fake.reply(1, answer_of("v"));
    while (other.empty()) co_await next_iteration();
    BOOST_TEST(other == "ok");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_reply_before_a_late_timer_completes_the_call) {
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
    co_await next_iteration();
    BOOST_TEST(outcome == "");

    stop.emit(asio::cancellation_type::terminal);

    while (outcome.empty()) co_await next_iteration();
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

BOOST_AUTO_TEST_CASE(a_peer_that_reads_slowly_gets_everything) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await fake.welcome(fake.options());
    constexpr int count = 4'000;  // more than socket buffers hold
    std::vector<std::string> outcomes(count);
    std::string const value(5'000, 'v');
    for (auto& outcome : outcomes) note(io, c.put("k", value, put_mode::overwrite), outcome);
    co_await next_iteration();
    for (std::uint64_t id = 1; id <= count; ++id) {
      (void)co_await fake.read();
      BOOST_TEST(fake.message().id == request_id{id});
      core::answer const stored{{}, core::stored_answer{id}};
      co_await fake.reply(id, stored);
    }
    while (outcomes.back().empty()) co_await next_iteration();
    for (auto const& outcome : outcomes) BOOST_TEST(outcome == "ok");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_step_received_with_the_next_freeze_is_kept) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto options = fake.options();
    auto c = co_await fake.welcome(options);
    core::answer freeze;
    freeze.value = core::freeze_request{1};
    co_await fake.say(freeze);
    co_await fake.read();
    std::vector<wire::server_message> both(2);
    both[0].id = fake.message().id;
    both[0].what.value = core::sync_point{1, 1};
    both[1].what.value = core::freeze_request{2};

    co_await fake.say_together(both);
    co_await fake.read();
    core::answer later;
    later.value = core::sync_point{2, 9};
    co_await fake.reply(fake.message().id.value, later);

    bool const stops = co_await c.reached_sync_point(1);
    BOOST_TEST(stops);
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
