#include "coxswain/client/asking.hpp"

#include "coxswain/client/client.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace coxswain::detail {

void need_session(connection_ptr const& at) {
  if (at) return;
  throw error{status{errc::failed_precondition, "this client has no session: connect it first"}};
}

asio::awaitable<core::answer> ask(connection_ptr at, question q) {
  auto as_it_is = [](core::answer& a) { return std::move(a); };
  auto what = asking<core::answer>(at, std::move(q), as_it_is, true);
  return initiation{at->executor()}.awaited(std::move(what));
}

void throw_unless_ok(core::answer const& a) {
  if (!a.outcome.ok()) std::rethrow_exception(failure_of({}, a));
}

error cancelled_by_caller(boost::system::error_code code) {
  return error{code, status{errc::cancelled, "the caller cancelled the call"}};
}

namespace {

// Cancels a question when its caller cancels the call.
class cancellation {
 public:
  cancellation(connection_ptr const& from, connection::place where) : from_{from}, where_{where} {}

  void operator()(asio::cancellation_type) const {
    if (auto const still_there = from_.lock()) still_there->cancel(where_);
  }

 private:
  std::weak_ptr<connection> from_;
  connection::place where_;
};

// Cancelled by every kind of cancellation, and always with coxswain::error.
asio::awaitable<void> cancellable(asio::awaitable<void> steps) {
  co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
  try {
    co_await std::move(steps);
  } catch (error const&) {
    throw;
  } catch (boost::system::system_error const& e) {
    throw cancelled_by_caller(e.code());  // Asio's own, between two steps
  }
}

// The handler that delivers a call.
class delivery {
 public:
  using executor_type = asio::any_completion_executor;
  using cancellation_slot_type = asio::cancellation_slot;

  delivery(std::unique_ptr<ended_call> ended, executor_type on, cancellation_slot_type slot,
           std::exception_ptr failure = {})
      : ended_{std::move(ended)}, on_{std::move(on)}, slot_{slot}, failure_{std::move(failure)} {}

  [[nodiscard]] executor_type get_executor() const noexcept { return on_; }
  [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

  void operator()() { (*this)(std::move(failure_)); }
  void operator()(std::exception_ptr failure) {
    auto& ended = *ended_;
    ended.deliver(std::move(ended_), std::move(failure));
  }

 private:
  std::unique_ptr<ended_call> ended_;
  executor_type on_;
  cancellation_slot_type slot_;
  std::exception_ptr failure_;
};

}  // namespace

std::exception_ptr failure_of(boost::system::error_code outcome, core::answer const& what) {
  if (outcome) return std::make_exception_ptr(cancelled_by_caller(outcome));
  std::optional<barrier_failure> details;
  if (auto const* const figures = std::get_if<barrier_failure>(&what.value)) details = *figures;
  return std::make_exception_ptr(error{what.outcome, std::move(details)});
}

boost::system::error_code code_of(std::exception_ptr const& failure, diagnostics* into) {
  if (into) *into = {};
  if (!failure) return {};
  try {
    std::rethrow_exception(failure);
  } catch (error const& e) {
    if (into) *into = {e.message(), e.details()};
    return e.code();
  } catch (std::exception const& e) {
    if (into) into->message = e.what();
  } catch (...) {
  }
  return errc::internal;
}

void post_ended(asio::any_io_executor const& by, std::unique_ptr<ended_call> ended,
                asio::any_completion_executor on, std::exception_ptr failure) {
  asio::post(by, delivery{std::move(ended), std::move(on), {}, std::move(failure)});
}

void spawn_steps(asio::any_io_executor const& by, asio::awaitable<void> steps,
                 std::unique_ptr<ended_call> ended, asio::any_completion_executor on,
                 asio::cancellation_slot slot) {
  asio::co_spawn(by, cancellable(std::move(steps)),
                 delivery{std::move(ended), std::move(on), slot});
}

void asked_question::ask(std::unique_ptr<waiter> self, asio::any_completion_executor on,
                         asio::cancellation_slot slot) {
  on_ = asio::prefer(std::move(on), asio::execution::outstanding_work.tracked);
  auto const at = at_;  // outlives this
  auto const where = at->ask(std::move(question_), std::move(self));
  if (slot.is_connected()) slot.emplace<cancellation>(at, where);
}

void asked_question::complete(std::unique_ptr<waiter> self, boost::system::error_code outcome,
                              core::answer what) {
  std::exception_ptr failure;
  try {
    if (outcome || !(what.outcome.ok() || reads_failures_)) {
      failure = failure_of(outcome, what);
    } else {
      keep(what);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  self.release();
  auto const at = std::move(at_);
  post_ended(at->executor(), std::unique_ptr<ended_call>{this}, std::move(on_), std::move(failure));
}

template void begin(asio::any_io_executor const&, asio::awaitable<void>, completion<void>);
template void begin(asio::any_io_executor const&, asio::awaitable<bool>, completion<bool>);
template void begin(asio::any_io_executor const&, asio::awaitable<client>, completion<client>);
template void begin(asio::any_io_executor const&, asio::awaitable<std::uint64_t>,
                    completion<std::uint64_t>);
template void begin(asio::any_io_executor const&, asio::awaitable<epoch_members>,
                    completion<epoch_members>);
template void begin(asio::any_io_executor const&, asio::awaitable<job_status>,
                    completion<job_status>);
template void begin(asio::any_io_executor const&, asio::awaitable<std::vector<key_value>>,
                    completion<std::vector<key_value>>);
template void begin(asio::any_io_executor const&, asio::awaitable<std::vector<key_change>>,
                    completion<std::vector<key_change>>);
template void begin(asio::any_io_executor const&, asio::awaitable<key_watch>,
                    completion<key_watch>);
template void begin(asio::any_io_executor const&, asio::awaitable<std::optional<logged_event>>,
                    completion<std::optional<logged_event>>);
template void begin(asio::any_io_executor const&, asio::awaitable<status>, completion<status>);
template void begin(asio::any_io_executor const&,
                    asio::awaitable<std::chrono::system_clock::time_point>,
                    completion<std::chrono::system_clock::time_point>);

}  // namespace coxswain::detail
