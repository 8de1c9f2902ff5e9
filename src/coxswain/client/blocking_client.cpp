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

template <class Call>
auto blocking_client::run(Call what) {
  return worker_->run(std::move(what));
}

bool blocking_client::join(join_options const& options) { return run(calls().join(options)); }

void blocking_client::reset(call_options const& options) { return run(calls().reset(options)); }

round_number blocking_client::barrier(std::string_view name, barrier_options const& options) {
  return run(calls().barrier(name, options));
}

std::vector<std::string> blocking_client::all_gather(std::string_view name, std::string_view data,
                                                     barrier_options const& options) {
  return run(calls().all_gather(name, data, options));
}

std::int64_t blocking_client::reduce_whole(std::string_view name,
                                           std::optional<std::int64_t> operand, reduction how,
                                           barrier_options const& options) {
  return run(calls().reduce(name, operand, how, options));
}

double blocking_client::reduce(std::string_view name, double operand, reduction how,
                               barrier_options const& options) {
  return run(calls().reduce(name, operand, how, options));
}

std::string blocking_client::reduce_bits(std::string_view name, std::string_view operand,
                                         bitwise how, barrier_options const& options) {
  return run(calls().reduce_bits(name, operand, how, options));
}

round_number blocking_client::all_equal(std::string_view name, std::string_view data,
                                        barrier_options const& options) {
  return run(calls().all_equal(name, data, options));
}

void blocking_client::cancel_barrier(std::string_view name, std::optional<round_number> round,
                                     call_options const& options) {
  return run(calls().cancel_barrier(name, round, options));
}

round_number blocking_client::count_barrier(std::string_view name, std::uint32_t count,
                                            call_options const& options) {
  return run(calls().count_barrier(name, count, options));
}

std::vector<process> blocking_client::alive_tasks(task_list tasks, call_options const& options) {
  return run(calls().alive_tasks(std::move(tasks), options));
}

tasks_result blocking_client::watch_tasks(std::optional<std::uint64_t> after,
                                          watch_options const& options) {
  return run(calls().watch_tasks(after, options));
}

events_result blocking_client::watch_events(std::optional<std::uint64_t> after,
                                            events_options const& options) {
  return run(calls().watch_events(after, options));
}

std::uint64_t blocking_client::put(std::string_view key, std::string_view value,
                                   put_options const& options) {
  return run(calls().put(key, value, options));
}

std::uint64_t blocking_client::put_all(std::vector<std::pair<std::string, std::string>> entries,
                                       put_options const& options) {
  return run(calls().put_all(std::move(entries), options));
}

swap_result blocking_client::compare_and_set(std::string_view key, std::string_view value,
                                             expectation expected, key_lifetime lifetime,
                                             call_options const& options) {
  return run(calls().compare_and_set(key, value, std::move(expected), lifetime, options));
}

std::uint64_t blocking_client::append(std::string_view key, std::string_view more,
                                      call_options const& options) {
  return run(calls().append(key, more, options));
}

std::string blocking_client::get(std::string_view key, call_options const& options) {
  return run(calls().get(key, options));
}

std::vector<key_value> blocking_client::get_all(std::vector<std::string> keys,
                                                call_options const& options) {
  return run(calls().get_all(std::move(keys), options));
}

std::optional<std::string> blocking_client::try_get(std::string_view key,
                                                    call_options const& options) {
  return run(calls().try_get(key, options));
}

std::vector<key_value> blocking_client::list(std::string_view directory,
                                             call_options const& options) {
  return run(calls().list(directory, options));
}

bool blocking_client::remove(std::string_view key, call_options const& options) {
  return run(calls().remove(key, options));
}

std::uint64_t blocking_client::remove_tree(std::string_view directory, remove_mode mode,
                                           call_options const& options) {
  return run(calls().remove_tree(directory, mode, options));
}

std::int64_t blocking_client::increment(std::string_view key, std::int64_t by,
                                        call_options const& options) {
  return run(calls().increment(key, by, options));
}

std::uint64_t blocking_client::count(std::string_view directory, call_options const& options) {
  return run(calls().count(directory, options));
}

std::uint64_t blocking_client::push(std::string_view queue, std::string_view value,
                                    call_options const& options) {
  return run(calls().push(queue, value, options));
}

std::uint64_t blocking_client::queue_length(std::string_view queue, call_options const& options) {
  return run(calls().queue_length(queue, options));
}

queue_item blocking_client::pop(std::string_view queue, call_options const& options) {
  return run(calls().pop(queue, options));
}

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

std::uint64_t blocking_client::lock(std::string_view name, call_options const& options) {
  return run(calls().lock(name, options));
}

std::optional<std::uint64_t> blocking_client::try_lock(std::string_view name,
                                                       call_options const& options) {
  return run(calls().try_lock(name, options));
}

void blocking_client::unlock(std::string_view name, std::uint64_t token,
                             call_options const& options) {
  run(calls().unlock(name, token, options));
}

void blocking_client::report_error(errc code, std::string_view message,
                                   call_options const& options) {
  return run(calls().report_error(code, message, options));
}

void blocking_client::leave(leave_options const& options) { return run(calls().leave(options)); }

coxswain::epoch blocking_client::next_epoch(epoch_options const& options) {
  return run(calls().next_epoch(options));
}

std::optional<epoch_end> blocking_client::epoch_wanted() { return run(calls().epoch_wanted()); }

coxswain::epoch_members blocking_client::epoch_members(call_options const& options) {
  return run(calls().epoch_members(options));
}

void blocking_client::resize(std::uint32_t num_tasks, call_options const& options) {
  run(calls().resize(num_tasks, options));
}

job_status blocking_client::inspect(call_options const& options) {
  return run(calls().inspect(options));
}

why_result blocking_client::why(call_options const& options) { return run(calls().why(options)); }

void blocking_client::report_progress(std::uint64_t step, call_options const& options) {
  return run(calls().report_progress(step, options));
}

void blocking_client::preempt(time_limit in, std::optional<task_id> who,
                              call_options const& options) {
  return run(calls().preempt(in, who, options));
}

bool blocking_client::reached_sync_point(std::uint64_t step) {
  return run(calls().reached_sync_point(step));
}

global_topology blocking_client::exchange_topology(std::string_view platform, local_topology mine,
                                                   call_options const& options) {
  return run(calls().exchange_topology(platform, std::move(mine), options));
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
