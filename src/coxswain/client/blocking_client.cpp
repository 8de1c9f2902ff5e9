#include "coxswain/client/blocking_client.hpp"

#include "coxswain/client/blocking_worker.hpp"

#include <thread>
#include <utility>

namespace coxswain {

blocking_client::blocking_client(client_options options)
    : worker_{std::make_unique<client_worker>()} {
  worker_->connect(std::move(options));
}

blocking_client::~blocking_client() {
  // In a child process the thread does not exist, and the parent's session is not ours to end.
  if (worker_->forked()) {
    static_cast<void>(worker_.release());
  } else if (worker_->is_here()) {
    // The client's thread ends when its callback has returned.
    std::thread{[ending = std::move(worker_)] {}}.detach();
  }
}

void blocking_client::close() noexcept {
  if (!worker_->forked()) worker_->close();
}

bool blocking_client::join(time_limit timeout) {
  return worker_->ask([=](client& c) { return c.join(timeout); });
}

bool blocking_client::join(join_options options) {
  return worker_->ask([=](client& c) { return c.join(options); });
}

void blocking_client::reset() {
  worker_->ask([](client& c) { return c.reset(); });
}

round_number blocking_client::barrier(std::string_view name, barrier_options options) {
  return worker_->ask([&](client& c) { return c.barrier(name, std::move(options)); });
}

std::vector<std::string> blocking_client::all_gather(std::string_view name, std::string_view data,
                                                     barrier_options options) {
  return worker_->ask([&](client& c) { return c.all_gather(name, data, std::move(options)); });
}

std::int64_t blocking_client::reduce(std::string_view name, std::int64_t operand, reduction how,
                                     barrier_options options) {
  return worker_->ask([&](client& c) { return c.reduce(name, operand, how, std::move(options)); });
}

double blocking_client::reduce(std::string_view name, double operand, reduction how,
                               barrier_options options) {
  return worker_->ask([&](client& c) { return c.reduce(name, operand, how, std::move(options)); });
}

std::string blocking_client::reduce_bits(std::string_view name, std::string_view operand,
                                         bitwise how, barrier_options options) {
  return worker_->ask(
      [&](client& c) { return c.reduce_bits(name, operand, how, std::move(options)); });
}

round_number blocking_client::all_equal(std::string_view name, std::string_view data,
                                        barrier_options options) {
  return worker_->ask([&](client& c) { return c.all_equal(name, data, std::move(options)); });
}

void blocking_client::cancel_barrier(std::string_view name, std::optional<round_number> round) {
  worker_->ask([=](client& c) { return c.cancel_barrier(name, round); });
}

round_number blocking_client::count_barrier(std::string_view name, std::uint32_t count,
                                            time_limit timeout) {
  return worker_->ask([=](client& c) { return c.count_barrier(name, count, timeout); });
}

std::vector<core::alive_answer::task> blocking_client::alive_tasks(std::span<task_id const> tasks,
                                                                   time_limit timeout) {
  return worker_->ask([=](client& c) { return c.alive_tasks(tasks, timeout); });
}

core::tasks_answer blocking_client::watch_tasks(std::optional<std::uint64_t> after,
                                                time_limit timeout) {
  return worker_->ask([=](client& c) { return c.watch_tasks(after, timeout); });
}

core::events_answer blocking_client::watch_events(std::optional<std::uint64_t> after,
                                                  core::severity at_least, time_limit timeout,
                                                  std::uint32_t last) {
  return worker_->ask([=](client& c) { return c.watch_events(after, at_least, timeout, last); });
}

std::uint64_t blocking_client::put(std::string_view key, std::string_view value, put_mode mode,
                                   key_lifetime lifetime) {
  return worker_->ask([=](client& c) { return c.put(key, value, mode, lifetime); });
}

std::uint64_t blocking_client::put_all(std::vector<std::pair<std::string, std::string>> entries,
                                       put_mode mode) {
  return worker_->ask([&](client& c) { return c.put_all(std::move(entries), mode); });
}

swap_result blocking_client::compare_and_set(std::string_view key, std::string_view value,
                                             expectation expected, key_lifetime lifetime) {
  return worker_->ask(
      [&](client& c) { return c.compare_and_set(key, value, std::move(expected), lifetime); });
}

std::uint64_t blocking_client::append(std::string_view key, std::string_view more) {
  return worker_->ask([=](client& c) { return c.append(key, more); });
}

std::string blocking_client::get(std::string_view key, time_limit timeout) {
  return worker_->ask([=](client& c) { return c.get(key, timeout); });
}

std::vector<key_value> blocking_client::get_all(std::vector<std::string> keys, time_limit timeout) {
  return worker_->ask([&](client& c) { return c.get_all(std::move(keys), timeout); });
}

std::optional<std::string> blocking_client::try_get(std::string_view key) {
  return worker_->ask([=](client& c) { return c.try_get(key); });
}

std::vector<key_value> blocking_client::list(std::string_view directory) {
  return worker_->ask([=](client& c) { return c.list(directory); });
}

bool blocking_client::remove(std::string_view key) {
  return worker_->ask([=](client& c) { return c.remove(key); });
}

std::uint64_t blocking_client::remove_tree(std::string_view directory, remove_mode mode) {
  return worker_->ask([=](client& c) { return c.remove_tree(directory, mode); });
}

std::int64_t blocking_client::increment(std::string_view key, std::int64_t by) {
  return worker_->ask([=](client& c) { return c.increment(key, by); });
}

std::uint64_t blocking_client::count(std::string_view directory) {
  return worker_->ask([=](client& c) { return c.count(directory); });
}

blocking_key_watch blocking_client::watch(std::string_view directory,
                                          std::optional<std::uint64_t> after) {
  return {*this, worker_->ask([=](client& c) { return c.watch(directory, after); })};
}

std::vector<key_change> blocking_key_watch::next(time_limit timeout) {
  return of_->worker_->ask([=, this](client&) { return watch_.next(timeout); });
}

std::vector<key_value> blocking_key_watch::list() {
  return of_->worker_->ask([this](client&) { return watch_.list(); });
}

std::uint64_t blocking_client::push(std::string_view queue, std::string_view value) {
  return worker_->ask([=](client& c) { return c.push(queue, value); });
}

std::uint64_t blocking_client::lock(std::string_view name, time_limit timeout) {
  return worker_->ask([=](client& c) { return c.lock(name, timeout); });
}

std::optional<std::uint64_t> blocking_client::try_lock(std::string_view name) {
  return worker_->ask([=](client& c) { return c.try_lock(name); });
}

void blocking_client::unlock(std::string_view name, std::uint64_t token) {
  worker_->ask([=](client& c) { return c.unlock(name, token); });
}

queue_item blocking_client::pop(std::string_view queue, time_limit timeout) {
  return worker_->ask([=](client& c) { return c.pop(queue, timeout); });
}

void blocking_client::report_error(errc code, std::string_view message) {
  worker_->ask([=](client& c) { return c.report_error(code, message); });
}

void blocking_client::leave(time_limit timeout) { leave(leave_options{timeout}); }

void blocking_client::leave(leave_options options) {
  worker_->ask([=](client& c) { return c.leave(options); });
}

core::snapshot blocking_client::inspect() {
  return worker_->ask([](client& c) { return c.inspect(); });
}

core::why_answer blocking_client::why() {
  return worker_->ask([](client& c) { return c.why(); });
}

void blocking_client::report_progress(std::uint64_t step) {
  worker_->ask([=](client& c) { return c.report_progress(step); });
}

void blocking_client::preempt(time_limit in, std::optional<task_id> who) {
  worker_->ask([=](client& c) { return c.preempt(in, who); });
}

bool blocking_client::reached_sync_point(std::uint64_t step) {
  return worker_->ask([=](client& c) { return c.reached_sync_point(step); });
}

core::global_topology blocking_client::exchange_topology(std::string_view platform,
                                                         core::local_topology mine,
                                                         time_limit timeout) {
  return worker_->ask(
      [&](client& c) { return c.exchange_topology(platform, std::move(mine), timeout); });
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
core::role blocking_client::role() const { return worker_->facts().role; }
std::uint32_t blocking_client::num_tasks() const { return worker_->facts().num_tasks; }
std::optional<task_id> blocking_client::task() const { return worker_->facts().task; }
coxswain::incarnation blocking_client::incarnation() const { return worker_->facts().self; }

}  // namespace coxswain
