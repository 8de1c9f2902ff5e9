// Every kind of completion token, on the calls of one client and a real coordinator.

#include "coxswain/client/event_watch.hpp"
#include "coxswain/client/preemption_notifier.hpp"
#include "coxswain/client/process_monitor.hpp"
#include "tests/client/two_clients.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <thread>

namespace coxswain::test {
namespace {

using boost::system::error_code;

// A single client with its coordinator.
class one_client : public two_clients {
 protected:
  one_client() {
    auto const open = [this]() -> asio::awaitable<void> {
      a = co_await client::connect(options());
    };
    run(io, open());
  }

  // Runs until `done` is set.
  template <class Done>
  void work_until(Done const& done) {
    while (!done) io.run_one();
  }

  template <class T>
  T taken_from(std::future<T> f) {
    while (f.wait_for(0s) != std::future_status::ready) io.run_one();
    return f.get();
  }
};

// A handler that stores its code.
template <class T>
auto left_in(std::optional<error_code>& code) {
  return [&code](error_code c, T) { code = c; };
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(completion_tokens, one_client)

BOOST_AUTO_TEST_CASE(without_a_token_an_error_is_thrown_with_its_details) {
  auto const test = [this]() -> asio::awaitable<void> {
    try {
      co_await a.get("missing", 0s);
      BOOST_ERROR("found");
    } catch (boost::system::system_error const& e) {
      BOOST_TEST((e.code() == errc::deadline_exceeded));
      BOOST_TEST(contains(dynamic_cast<error const&>(e).message(), "missing"));
    }
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(as_tuple_gives_the_code_and_the_value) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto const stored =
        co_await a.put("k", "v", put_mode::create, asio::as_tuple(asio::use_awaitable));
    BOOST_TEST(!std::get<0>(stored));
    BOOST_TEST(std::get<1>(stored) > 0u);

    auto const again =
        co_await a.put("k", "w", put_mode::create, asio::as_tuple(asio::use_awaitable));
    BOOST_TEST((std::get<0>(again) == errc::already_exists));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(redirect_error_gives_the_code_and_diagnostics_the_details) {
  auto const test = [this]() -> asio::awaitable<void> {
    error_code code;
    diagnostics why;
    co_await a.get("missing", 0s, why, asio::redirect_error(asio::use_awaitable, code));
    BOOST_TEST((code == errc::deadline_exceeded));
    BOOST_TEST(contains(why.message, "missing"));

    co_await a.put("k", "v");
    auto const found =
        co_await a.get("k", 0s, why, asio::redirect_error(asio::use_awaitable, code));
    BOOST_TEST(found == "v");
    BOOST_TEST(!code);
    BOOST_TEST(why.message == "");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_barrier_that_fails_leaves_its_details) {
  auto const test = [this]() -> asio::awaitable<void> {
    a = client{};
    co_await join_both();
    diagnostics why;
    auto const missed = co_await a.barrier("b", 30ms, why, asio::as_tuple(asio::use_awaitable));
    BOOST_TEST((std::get<0>(missed) == errc::deadline_exceeded));
    BOOST_TEST_REQUIRE(why.details.has_value());
    BOOST_TEST(why.details->missing == "1");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_future_is_fulfilled) {
  std::future<std::uint64_t> stored = a.put("k", "v", {}, asio::use_future);
  std::future<std::string> missing = a.get("missing", 0s, asio::use_future);
  auto const is_ready = [](auto& f) { return f.wait_for(0s) == std::future_status::ready; };
  while (!is_ready(stored) || !is_ready(missing)) io.run_one();

  BOOST_TEST(stored.get() > 0u);
  BOOST_CHECK_EXCEPTION(missing.get(), boost::system::system_error,
                        [](auto const& e) { return e.code() == errc::deadline_exceeded; });
}

BOOST_AUTO_TEST_CASE(a_callback_may_own_what_it_needs_and_never_runs_within_the_call) {
  std::optional<std::string> found;
  auto const own = [&found](std::unique_ptr<int> kept) {
    return [&found, kept = std::move(kept)](error_code code, std::string value) {
      BOOST_TEST(!code);
      BOOST_TEST(*kept == 7);
      found = std::move(value);
    };
  };
  bool stored = false;
  a.put("k", "v", {}, [&stored](error_code code, std::uint64_t) { stored = !code; });
  a.get("k", {}, own(std::make_unique<int>(7)));
  BOOST_TEST(!stored);

  work_until(found);

  BOOST_TEST(stored);
  BOOST_TEST(*found == "v");
}

BOOST_AUTO_TEST_CASE(a_deferred_call_begins_when_it_is_launched) {
  bool stored = false;
  auto put = a.put("k", std::string{"copied"}, {}, asio::deferred);
  auto list = a.list("", {}, asio::deferred);
  std::optional<std::size_t> before;
  std::move(list)([&before](error_code, std::vector<key_value> all) { before = all.size(); });
  work_until(before);
  BOOST_TEST(*before == 0u);

  std::move(put)([&stored](error_code code, std::uint64_t) { stored = !code; });
  work_until(stored);

  std::future<std::string> found = a.get("k", {}, asio::use_future);
  while (found.wait_for(0s) != std::future_status::ready) io.run_one();
  BOOST_TEST(found.get() == "copied");
}

BOOST_AUTO_TEST_CASE(awaitable_operators_race_and_join_calls) {
  auto const test = [this]() -> asio::awaitable<void> {
    asio::steady_timer timer{io, 5ms};
    auto const first = co_await (a.get("k") || timer.async_wait(asio::use_awaitable));
    BOOST_TEST(first.index() == 1u);
    auto const both = co_await (a.get("k") && a.put("k", "v"));
    BOOST_TEST(std::get<0>(both) == "v");
    auto const listed = co_await (a.list("") || a.get("nothing"));
    BOOST_TEST(listed.index() == 0u);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(every_kind_of_cancellation_ends_a_call) {
  for (auto const kind : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                          asio::cancellation_type::total}) {
    asio::cancellation_signal stop;
    diagnostics why;
    error_code got;
    error_code popped;
    a.get("k", 60s, why,
          asio::bind_cancellation_slot(stop.slot(),
                                       [&](error_code code, std::string) { got = code; }));
    io.poll();
    BOOST_TEST(!got);

    stop.emit(kind);
    work_until(got);

    BOOST_TEST((got == asio::error::operation_aborted));
    BOOST_TEST(why.message == "the caller cancelled the call");

    asio::cancellation_signal stop_steps;
    auto watch = std::make_shared<key_watch>();
    auto const open = [this, watch]() -> asio::awaitable<void> { *watch = co_await a.watch(""); };
    run(io, open());
    watch->next({}, asio::bind_cancellation_slot(
                        stop_steps.slot(),
                        [&popped](error_code code, std::vector<key_change>) { popped = code; }));
    io.poll();
    BOOST_TEST(!popped);

    stop_steps.emit(kind);
    work_until(popped);

    BOOST_TEST((popped == asio::error::operation_aborted));
  }
}

BOOST_AUTO_TEST_CASE(a_cancelled_coroutine_gets_the_error_of_the_client) {
  asio::cancellation_signal stop;
  std::optional<bool> ended_well;
  auto const test = [&]() -> asio::awaitable<void> {
    try {
      co_await a.get("k");
    } catch (error const& e) {
      ended_well = e.code() == asio::error::operation_aborted &&
                   e.outcome().code() == errc::cancelled &&
                   e.code() == boost::system::errc::operation_canceled;
    }
  };
  asio::co_spawn(io, test, asio::bind_cancellation_slot(stop.slot(), asio::detached));
  io.poll();

  stop.emit(asio::cancellation_type::terminal);
  work_until(ended_well);

  BOOST_TEST(*ended_well);
}

BOOST_AUTO_TEST_CASE(a_handler_runs_on_its_own_executor) {
  asio::thread_pool other{1};
  std::promise<std::thread::id> ran;
  a.put("k", "v", {}, asio::bind_executor(other, [&ran](error_code, std::uint64_t) {
          ran.set_value(std::this_thread::get_id());
        }));
  auto where = ran.get_future();
  while (where.wait_for(0s) != std::future_status::ready) io.run_one_for(1ms);

  BOOST_TEST((where.get() != std::this_thread::get_id()));
  BOOST_TEST((a.get_executor() == asio::any_io_executor{io.get_executor()}));
}

BOOST_AUTO_TEST_CASE(a_client_works_on_a_strand_and_connects_with_a_callback) {
  asio::thread_pool threads{2};
  auto const strand = asio::make_strand(threads);
  client c;
  std::promise<std::string> found;
  auto const got = [&](error_code, std::string value) {
    BOOST_TEST(strand.running_in_this_thread());
    c = client{};
    found.set_value(std::move(value));
  };
  auto const put = [&](error_code, std::uint64_t) { c.get("k", {}, got); };
  auto const connected = [&](error_code code, client made) {
    BOOST_TEST(!code);
    BOOST_TEST(strand.running_in_this_thread());
    c = std::move(made);
    c.put("k", "v", {}, put);
  };
  asio::post(strand, [&] { client::connect(strand, options(), connected); });
  auto value = found.get_future();
  while (value.wait_for(0s) != std::future_status::ready) io.run_one_for(1ms);

  BOOST_TEST(value.get() == "v");
  while (coordinator.look().sessions > 1) io.run_one_for(1ms);
}

BOOST_AUTO_TEST_CASE(connecting_takes_tokens_and_reports_details) {
  auto const test = []() -> asio::awaitable<void> {
    diagnostics why;
    client_options malformed{"b12"};
    auto const failed =
        co_await client::connect(malformed, why, asio::as_tuple(asio::use_awaitable));
    BOOST_TEST((std::get<0>(failed) == errc::invalid_argument));
    BOOST_TEST(contains(why.message, "b12"));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(connect_and_join_takes_tokens) {
  diagnostics why;
  client_options malformed{"b12"};
  std::optional<error_code> outcome;
  auto const done = [&](error_code code, client const&) { outcome = code; };
  client::connect_and_join(malformed, {}, why, asio::bind_executor(io.get_executor(), done));
  while (!outcome) io.run_one_for(1ms);
  BOOST_TEST((*outcome == errc::invalid_argument));
  BOOST_TEST(contains(why.message, "b12"));
}

// The first event is that task 0 joins.
BOOST_AUTO_TEST_CASE(an_event_watch_takes_tokens) {
  using found = std::optional<logged_event>;
  auto zero = taken_from(client::connect(io.get_executor(), options(0), asio::use_future));
  auto joined = zero.join({}, asio::use_future);

  event_watch by_future{a};
  auto const first = taken_from(by_future.next({}, asio::use_future));
  BOOST_TEST_REQUIRE(first.has_value());
  BOOST_TEST((first->what.kind == event_kind::joining));

  event_watch by_callback{a, severity::info};
  found second;
  by_callback.next({}, [&second](error_code code, found what) {
    BOOST_TEST(!code);
    second = std::move(what);
  });
  BOOST_TEST(!second.has_value());
  work_until(second);
  BOOST_TEST((*second == *first));

  auto const as_tuple = [&]() -> asio::awaitable<void> {
    auto const none = co_await by_future.next(10ms, asio::as_tuple(asio::use_awaitable));
    BOOST_TEST(!std::get<0>(none));
    BOOST_TEST(!std::get<1>(none).has_value());
  };
  run(io, as_tuple());

  for (auto const kind : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                          asio::cancellation_type::total}) {
    asio::cancellation_signal stop;
    std::optional<error_code> code;
    diagnostics why;
    by_future.next({}, why, asio::bind_cancellation_slot(stop.slot(), left_in<found>(code)));
    io.poll();
    BOOST_TEST(!code.has_value());
    stop.emit(kind);
    work_until(code);
    BOOST_TEST((*code == asio::error::operation_aborted));
    BOOST_TEST(why.message == "the caller cancelled the call");
  }
}

BOOST_AUTO_TEST_CASE(a_process_monitor_takes_tokens) {
  std::size_t notice = 0;
  auto const count = [&notice](tasks_result const& all, std::span<process const>) {
    notice += all.tasks.size();
  };
  process_monitor monitor{a};
  for (auto const kind : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                          asio::cancellation_type::total}) {
    asio::cancellation_signal stop;
    std::optional<error_code> code;
    notice = 0;
    monitor.run(count, asio::bind_cancellation_slot(stop.slot(), left_in<status>(code)));
    BOOST_TEST(notice == 0u);
    work_until(notice);
    BOOST_TEST(!code.has_value());
    stop.emit(kind);
    work_until(code);
    BOOST_TEST((*code == asio::error::operation_aborted));
  }
  notice = 0;
  auto const ended = monitor.run(count, asio::use_future);
  work_until(notice);
  auto const as_tuple = [&]() -> asio::awaitable<void> {
    process_monitor another{a};
    auto const end = [this](tasks_result const&, std::span<process const>) { a = client{}; };
    auto const why = co_await another.run(end, asio::as_tuple(asio::use_awaitable));
    BOOST_TEST(!std::get<0>(why));
    BOOST_TEST(!std::get<1>(why).ok());
  };
  run(io, as_tuple());
  while (ended.wait_for(0s) != std::future_status::ready) io.run_one();
}

BOOST_AUTO_TEST_CASE(a_cancelled_monitor_or_notifier_throws_the_error_of_the_client) {
  process_monitor monitor{a};
  preemption_notifier const notifier{io.get_executor(), SIGUSR2};
  event_watch events{a, severity::error};
  auto const ignore = [](tasks_result const&, std::span<process const>) {};
  std::function<asio::awaitable<void>()> const waits[] = {
      [&]() -> asio::awaitable<void> { static_cast<void>(co_await monitor.run(ignore)); },
      [&]() -> asio::awaitable<void> {
        static_cast<void>(co_await notifier.will_be_preempted_at());
      },
      [&]() -> asio::awaitable<void> { static_cast<void>(co_await events.next()); },
  };
  for (auto const& wait : waits) {
    asio::cancellation_signal stop;
    std::exception_ptr problem;
    auto const leave = [&problem](std::exception_ptr p) { problem = std::move(p); };
    asio::co_spawn(io, wait(), asio::bind_cancellation_slot(stop.slot(), leave));
    while (io.run_one_for(20ms) > 0) {
    }
    BOOST_TEST(!problem);
    stop.emit(asio::cancellation_type::terminal);
    work_until(problem);
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(problem), error, [](error const& e) {
      return e.code() == asio::error::operation_aborted && e.outcome().code() == errc::cancelled;
    });
  }
}

BOOST_AUTO_TEST_CASE(a_preemption_notifier_takes_tokens) {
  using moment = std::chrono::system_clock::time_point;
  std::optional<preemption_notifier> notifier;
  notifier.emplace(io.get_executor(), SIGUSR2);
  for (auto const kind : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                          asio::cancellation_type::total}) {
    asio::cancellation_signal stop;
    std::optional<error_code> code;
    diagnostics why;
    notifier->will_be_preempted_at(
        why, asio::bind_cancellation_slot(stop.slot(), left_in<moment>(code)));
    io.poll();
    BOOST_TEST(!code.has_value());
    stop.emit(kind);
    work_until(code);
    BOOST_TEST((*code == asio::error::operation_aborted));
    BOOST_TEST(why.message == "the caller cancelled the call");
  }
  std::optional<error_code> called;
  notifier->will_be_preempted_at(left_in<moment>(called));
  auto const future = notifier->will_be_preempted_at(asio::use_future);
  BOOST_TEST(!called.has_value());
  ::raise(SIGUSR2);
  work_until(called);
  BOOST_TEST(!*called);
  while (future.wait_for(0s) != std::future_status::ready) io.run_one();

  notifier.emplace(io.get_executor(), SIGUSR2);
  auto const as_tuple = [&]() -> asio::awaitable<void> {
    asio::post(io, [&] { notifier.reset(); });
    auto const token = asio::as_tuple(asio::use_awaitable);
    auto const ended = co_await notifier->will_be_preempted_at(token);
    BOOST_TEST((std::get<0>(ended) == errc::cancelled));
  };
  run(io, as_tuple());
}

BOOST_AUTO_TEST_CASE(a_call_that_cannot_start_still_completes) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto const too_big = std::numeric_limits<std::size_t>::max();
    auto const sum =
        co_await a.reduce("r", too_big, reduction::sum, 1s, asio::as_tuple(asio::use_awaitable));
    BOOST_TEST((std::get<0>(sum) == errc::out_of_range));
    auto const observers =
        co_await a.preempt(0s, std::nullopt, 1s, asio::as_tuple(asio::use_awaitable));
    BOOST_TEST((std::get<0>(observers) == errc::invalid_argument));
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
