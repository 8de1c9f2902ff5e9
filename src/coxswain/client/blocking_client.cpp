#include "coxswain/client/blocking_client.hpp"

#include "coxswain/client/blocking_worker.hpp"

#include <thread>
#include <utility>

namespace coxswain {
namespace {

void end(std::unique_ptr<detail::client_worker> worker) {
  if (!worker) return;
  // In a child process the thread does not exist, and the parent's session is not ours to end.
  if (worker->forked()) {
    static_cast<void>(worker.release());
  } else if (worker->is_here()) {
    // The client's thread ends when its callback has returned.
    std::thread{[ending = std::move(worker)] {}}.detach();
  }
}

}  // namespace

blocking_client::blocking_client(client_options options)
    : worker_{std::make_unique<detail::client_worker>()} {
  worker_->connect(std::move(options));
}

blocking_client::blocking_client(std::unique_ptr<detail::client_worker> worker)
    : worker_{std::move(worker)} {}

blocking_client blocking_client::connect_and_join(client_options options,
                                                  join_options const& join) {
  auto worker = std::make_unique<detail::client_worker>();
  worker->connect_and_join(std::move(options), join);
  return blocking_client{std::move(worker)};
}

blocking_client::~blocking_client() { end(std::move(worker_)); }

blocking_client::blocking_client(blocking_client&& other) noexcept = default;

blocking_client& blocking_client::operator=(blocking_client&& other) noexcept {
  end(std::exchange(worker_, std::move(other.worker_)));
  return *this;
}

void blocking_client::close() noexcept {
  if (!worker_->forked()) worker_->close();
}

detail::client_calls const& blocking_client::calls() const { return worker_->calls(); }

template <class T>
T blocking_client::run(detail::call<T> what) const {
  return worker_->run(std::move(what));
}

template <class T>
T blocking_client::run(asio::awaitable<T> what) const {
  return worker_->run(std::move(what));
}

template void blocking_client::run(detail::call<void>) const;
template bool blocking_client::run(detail::call<bool>) const;
template double blocking_client::run(detail::call<double>) const;
template std::int64_t blocking_client::run(detail::call<std::int64_t>) const;
template std::uint64_t blocking_client::run(detail::call<std::uint64_t>) const;
template std::string blocking_client::run(detail::call<std::string>) const;
template std::vector<std::string> blocking_client::run(
    detail::call<std::vector<std::string>>) const;
template round_number blocking_client::run(detail::call<round_number>) const;
template std::vector<process> blocking_client::run(detail::call<std::vector<process>>) const;
template tasks_result blocking_client::run(detail::call<tasks_result>) const;
template events_result blocking_client::run(detail::call<events_result>) const;
template swap_result blocking_client::run(detail::call<swap_result>) const;
template std::vector<key_value> blocking_client::run(detail::call<std::vector<key_value>>) const;
template std::optional<std::string> blocking_client::run(
    detail::call<std::optional<std::string>>) const;
template std::optional<std::uint64_t> blocking_client::run(
    detail::call<std::optional<std::uint64_t>>) const;
template queue_item blocking_client::run(detail::call<queue_item>) const;
template coxswain::epoch blocking_client::run(detail::call<coxswain::epoch>) const;
template std::optional<epoch_end> blocking_client::run(
    detail::call<std::optional<epoch_end>>) const;
template global_topology blocking_client::run(detail::call<global_topology>) const;
template why_result blocking_client::run(detail::call<why_result>) const;
template void blocking_client::run(asio::awaitable<void>) const;
template bool blocking_client::run(asio::awaitable<bool>) const;
template std::uint64_t blocking_client::run(asio::awaitable<std::uint64_t>) const;
template coxswain::epoch_members blocking_client::run(
    asio::awaitable<coxswain::epoch_members>) const;
template job_status blocking_client::run(asio::awaitable<job_status>) const;
template std::vector<key_value> blocking_client::run(asio::awaitable<std::vector<key_value>>) const;

blocking_item blocking_client::take(std::string_view queue, take_options const& options) {
  return {*worker_, run(calls().take(queue, options))};
}

// In a child process the item is not ours to give back.
blocking_item::~blocking_item() {
  if (of_->forked()) static_cast<void>(item_.detach());
}

blocking_item& blocking_item::operator=(blocking_item&& other) noexcept {
  if (this == &other) return *this;
  if (of_->forked()) static_cast<void>(item_.detach());
  of_ = other.of_;
  item_ = std::move(other.item_);
  return *this;
}

// A call that is refused here leaves the item with its handle.
void blocking_item::finish(call_options const& options) {
  of_->refuse_here();
  of_->run(item_.finishing(options));
}
void blocking_item::release(call_options const& options) {
  of_->refuse_here();
  of_->run(item_.releasing(options));
}
void blocking_item::extend(time_limit lease, call_options const& options) {
  of_->run(item_.extending(lease, options));
}

blocking_lock blocking_client::locked(std::string_view name, call_options const& options) {
  return {*worker_, run(calls().locked(name, options))};
}

blocking_lock::~blocking_lock() {
  if (of_->forked()) static_cast<void>(lock_.detach());
}

blocking_lock& blocking_lock::operator=(blocking_lock&& other) noexcept {
  if (this == &other) return *this;
  if (of_->forked()) static_cast<void>(lock_.detach());
  of_ = other.of_;
  lock_ = std::move(other.lock_);
  return *this;
}

void blocking_lock::unlock(call_options const& options) {
  of_->refuse_here();
  of_->run(lock_.unlocking(options));
}

blocking_key_watch blocking_client::watch(std::string_view directory,
                                          std::optional<std::uint64_t> after,
                                          call_options const& options) {
  return {*worker_, run(calls().watch(directory, after, options))};
}

std::vector<key_change> blocking_key_watch::next(watch_options const& options) {
  return of_->run(watch_.next_for(options.timeout));
}

std::vector<key_value> blocking_key_watch::list(call_options const& options) {
  return of_->run(watch_.list_for(options.timeout));
}

std::optional<job_error> blocking_client::failure(time_limit timeout) {
  try {
    auto const start = [](client& c) { return c.failure(); };
    if (timeout == without_limit) return worker_->ask(start);
    return worker_->ask_within(timeout, start);
  } catch (boost::system::system_error const& e) {
    if (e.code() == asio::error::operation_aborted) return std::nullopt;
    throw;
  }
}

std::uint64_t blocking_client::reconnects() const { return worker_->reconnects(); }
role blocking_client::role() const { return worker_->facts().role; }
std::uint32_t blocking_client::num_tasks() const { return worker_->facts().num_tasks; }
std::optional<task_id> blocking_client::task() const { return worker_->task(); }
coxswain::incarnation blocking_client::incarnation() const { return worker_->facts().self; }

}  // namespace coxswain
