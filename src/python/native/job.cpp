// Calls about the state of the job and its tasks, and reports of a task on itself.

#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"

#include "coxswain/client/preemption_notifier.hpp"

#include <memory>
#include <optional>
#include <string>

namespace coxswain::python {
namespace {

// Each time, the next notifier exists before the last one restores the signal.
asio::awaitable<void> preempt_at(client& c, int signal, duration in) {
  auto const executor = co_await asio::this_coro::executor;
  auto notifier = std::make_unique<preemption_notifier>(executor, signal);
  for (;;) {
    co_await notifier->will_be_preempted_at();
    notifier = std::make_unique<preemption_notifier>(executor, signal);
    co_await c.preempt(in);
  }
}

}  // namespace

template <>
struct argument_of<core::severity> {
  static core::severity from(place at, py::handle passed) {
    auto const level = text_of(at, passed);
    if (level == "info") return core::severity::info;
    if (level == "warning") return core::severity::warning;
    if (level == "error") return core::severity::error;
    throw py::value_error("a severity is 'info', 'warning' or 'error', not '" + level + "'");
  }
};

void bind_job(session_class& of) {
  offer(of, "alive_tasks", [](client& c, task_ids const& tasks, timeout time) {
    return c.alive_tasks(tasks, time.value);
  });
  offer(of, "watch_tasks", [](client& c, std::optional<std::uint64_t> after, timeout time) {
    return c.watch_tasks(after, time.value);
  });
  offer(of, "watch_events",
        [](client& c, std::optional<std::uint64_t> after, core::severity at_least, timeout time,
           std::uint32_t last) {
          return c.watch_events(after, events_options{at_least, time.value}.with_last(last));
        });
  offer(of, "next_epoch", [](client& c, timeout time, bool shrink_only) {
    epoch_options options{time.value};
    options.shrink_only = shrink_only;
    return c.next_epoch(options);
  });
  offer(of, "epoch_wanted", [](client& c) { return c.epoch_wanted(); });
  offer(of, "epoch_members", [](client& c) { return c.epoch_members(); });
  offer(of, "present_epoch", [](client& c) -> asio::awaitable<epoch> { co_return c.epoch(); });
  offer(of, "resize", [](client& c, std::uint32_t num_tasks) { return c.resize(num_tasks); });
  offer(of, "inspect", [](client& c) { return c.inspect(); });
  offer(of, "why", [](client& c) { return c.why(); });
  offer(of, "failure", [](client& c) { return c.failure(); });
  define(of, "failure_within", [](session& self, timeout time) {
    return self.ask_within(time.value, [](client& c) { return c.failure(); });
  });
  offer(of, "reset", [](client& c) { return c.reset(); });
  offer(of, "report_error", [](client& c, std::uint32_t code, std::string const& message) {
    return c.report_error(errc_of(code), message);
  });
  offer(of, "report_progress",
        [](client& c, std::uint64_t step) { return c.report_progress(step); });
  offer(of, "preempt",
        [](client& c, timeout in, std::optional<task_id> who) { return c.preempt(in.value, who); });
  offer(of, "stop_job", [](client& c, std::string const& reason) { return c.stop_job(reason); });
  offer(of, "drain_job", [](client& c, std::string const& reason) { return c.drain_job(reason); });
  // It is not awaited; `cancel` ends it.
  define(of, "preempt_at_signal", [](session& self, int signal, timeout in) {
    auto const start = [=](client& c) { return preempt_at(c, signal, in.value); };
    auto call = self.begin(start, std::make_shared<mailbox>(), 0);
    self.end_with(call);
    static_cast<void>(self.reconnects());  // comes after it on the client's thread: the signal is
                                           // caught from now on
    return call;
  });
  offer(of, "reached_sync_point",
        [](client& c, std::uint64_t step) { return c.reached_sync_point(step); });
}

}  // namespace coxswain::python
