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
  return initiation{at->executor(), nullptr}.awaited(std::move(what));
}

void throw_unless_ok(core::answer const& a) {
  if (!a.outcome.ok()) std::rethrow_exception(failure_of({}, a));
}

error cancelled_by_caller(boost::system::error_code code) {
  return error{code, status{errc::cancelled, "the caller cancelled the call"}};
}

namespace {

// Cancelled by every kind of cancellation, and always with coxswain::error.
template <class T>
asio::awaitable<T> cancellable(asio::awaitable<T> steps) {
  co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
  try {
    co_return co_await std::move(steps);
  } catch (error const&) {
    throw;
  } catch (boost::system::system_error const& e) {
    throw cancelled_by_caller(e.code());  // Asio's own, between two steps
  }
}

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

template <class T>
void begin(asio::any_io_executor const& on, asio::awaitable<T> steps, completion<T> done) {
  if (!on) need_session(nullptr);
  asio::co_spawn(on, cancellable(std::move(steps)), std::move(done));
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
