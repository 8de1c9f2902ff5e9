#include "coxswain/status/metrics.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/status/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace coxswain::status_page {
namespace {

// Names and values. Nothing in them needs an escape sequence.
using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

double seconds(duration d) { return std::chrono::duration<double>{d}.count(); }

// A duration in seconds, or a count.
template <class Amount>
double number_of(Amount amount) {
  if constexpr (std::is_same_v<Amount, duration>)
    return seconds(amount);
  else
    return static_cast<double>(amount);
}

std::string digits_of(double value) {
  std::array<char, 32> digits{};
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::general, 16)
                       .ptr;
  return {digits.data(), end};
}

// The text of families of metrics, in the order in which they are added.
class families {
 public:
  // Begins a family, to which `add` adds.
  families& gauges(std::string_view name, std::string_view help) {
    return begin(name, help, "gauge");
  }
  families& counters(std::string_view name, std::string_view help) {
    return begin(name, help, "counter");
  }
  void add(labels which, double value) { sample("", which, value); }

  // Families of one.
  template <class Number>
  void gauge(std::string_view name, std::string_view help, Number value) {
    gauges(name, help).add({}, static_cast<double>(value));
  }
  template <class Number>
  void counter(std::string_view name, std::string_view help, Number value) {
    counters(name, help).add({}, static_cast<double>(value));
  }
  template <class Histogram>
  void histogram(std::string_view name, std::string_view help, Histogram const& from) {
    begin(name, help, "histogram");
    auto const& counts = from.counts();
    sample("_count", {}, number_of(std::accumulate(counts.begin(), counts.end(), std::uint64_t{})));
    sample("_sum", {}, number_of(from.sum()));
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      bool const is_last = i == Histogram::bounds.size();
      count += counts[i];
      sample("_bucket", {{"le", is_last ? "+Inf" : digits_of(number_of(Histogram::bounds[i]))}},
             number_of(count));
    }
  }

  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  families& begin(std::string_view name, std::string_view help, std::string_view type) {
    // Process metrics have the names that all exporters use.
    name_ = name.starts_with("process_") ? "" : "coxswain_";
    name_ += name;
    text_.append("# HELP ").append(name_).append(" ").append(help).append("\n# TYPE ");
    text_.append(name_).append(" ").append(type).append("\n");
    return *this;
  }

  void sample(std::string_view suffix, labels which, double value) {
    text_.append(name_).append(suffix);
    char separator = '{';
    for (auto const& [name, of] : which) {
      (text_ += separator).append(name).append("=\"").append(of).append("\"");
      separator = ',';
    }
    if (which.size() != 0) text_ += '}';
    text_.append(" ").append(digits_of(value)).append("\n");
  }

  std::string name_;  // of the family begun last
  std::string text_;
};

void add_version(families& to, std::string const& version) {
  to.gauges("build_info", "Always 1; the version of the coordinator.");
  to.add({{"version", version}}, 1);
}

void add_state(families& to, core::job_state const& state) {
  using kind = core::job_state::kind;
  to.gauges("job_state", "1 for the state of the job, 0 for all others.");
  for (auto i = static_cast<int>(kind::running); i <= static_cast<int>(kind::draining); ++i) {
    auto const what = static_cast<kind>(i);
    to.add({{"state", std::string{name_of(what)}}}, what == state.what ? 1 : 0);
  }
  if (!state.since) return;
  to.gauge("job_state_since_timestamp_seconds", "When the state of the job began, in Unix time.",
           static_cast<double>(state.since->unix_ms) / 1000);
}

void add_tasks(families& to, core::snapshot const& job) {
  std::array<std::uint64_t, 6> by_state{};
  std::uint64_t suspect = 0;
  for (auto const& task : job.tasks) {
    ++(task.suspect ? suspect : by_state[static_cast<std::size_t>(task.state)]);
  }
  to.gauges("tasks", "Tasks of the job by state; suspect tasks do not count as connected.");
  for (std::size_t state = 0; state < by_state.size(); ++state) {
    std::string label{name(static_cast<task_state>(state))};
    std::replace(label.begin(), label.end(), ' ', '_');
    to.add({{"state", label}}, static_cast<double>(by_state[state]));
  }
  to.add({{"state", "suspect"}}, static_cast<double>(suspect));
}

void add_open_barriers(families& to, core::snapshot const& job) {
  using kind = core::snapshot::kind;
  to.gauges("open_barriers",
            "Open barriers by kind; unlisted: those beyond a thousand, of any kind.");
  for (kind const what : {kind::tasks, kind::count, kind::join, kind::leave, kind::topology}) {
    auto const count = std::count_if(job.barriers.begin(), job.barriers.end(),
                                     [&](auto const& barrier) { return barrier.what == what; });
    to.add({{"kind", name_of(what)}}, static_cast<double>(count));
  }
  to.add({{"kind", "unlisted"}}, static_cast<double>(job.more_barriers));
}

// There are no labels of tasks: see `coxswain status` for individual ones.
void add_trouble(families& to, core::snapshot const& job) {
  to.gauge("stuck_tasks", "Tasks that are blocked on each other.", job.stuck_tasks);
  to.gauge("tasks_without_progress",
           "Connected tasks without a further step for longer than the progress timeout.",
           std::count_if(job.tasks.begin(), job.tasks.end(), [](auto const& t) {
             return t.state == task_state::connected && t.progress && t.progress->overdue;
           }));
  auto const oldest = std::max_element(job.barriers.begin(), job.barriers.end(),
                                       [](auto const& a, auto const& b) { return a.age < b.age; });
  bool const waits = oldest != job.barriers.end();
  to.gauge("oldest_barrier_missing_tasks", "Tasks that are missing at the oldest open barrier.",
           waits ? oldest->expected - oldest->arrived : 0);
  to.gauge("oldest_barrier_age_seconds", "How long the oldest open barrier has been open.",
           waits ? seconds(oldest->age) : 0);
  core::snapshot::straggler const none;
  auto const& last = job.stragglers.empty() ? none : job.stragglers.front();
  to.gauge("straggler_rounds",
           "Of the recent barrier rounds, those in which the most frequent straggler came last.",
           last.times_last);
  to.gauge("straggler_rounds_observed", "Recent barrier rounds with a straggler, at most 256.",
           last.of);
  to.gauge("straggler_lag_seconds",
           "How long the most frequent straggler came after the median arrival, on average.",
           seconds(last.lag_mean));
}

void add_job(families& to, core::snapshot const& job) {
  add_state(to, job.state);
  add_tasks(to, job);
  add_trouble(to, job);
  to.gauge("job_failed", "1 if the job has failed.", job.error ? 1 : 0);
  to.gauge("sessions", "Clients, connected or expected back.", job.sessions);
  add_open_barriers(to, job);
  to.gauge("waiting_gets", "Calls that wait for the value of a key.", job.waiting_gets);
  to.gauge("waiting_pops", "Calls that wait for an item of a queue.", job.waiting_pops);
  to.gauge("waiting_key_watches", "Calls that wait for changes of keys.", job.waiting_key_watches);
  to.gauge("leased_items", "Items that were taken from a queue and are not finished.",
           job.leased_items);
  to.gauge("locks_held", "Locks that a session holds.", job.locks_held);
  to.gauge("waiting_locks", "Calls that wait for a lock.", job.waiting_locks);
  to.gauge("spares", "Processes that wait for a task's number.", job.spares_waiting);
  if (job.elastic) {
    to.gauge("epoch", "The present epoch of an elastic job.", job.elastic->epoch);
    to.gauge("epoch_tasks_wanted", "The most tasks of an epoch.", job.elastic->tasks_wanted);
    to.gauge("epoch_ending", "1 if the epoch is to end.", job.elastic->ending.empty() ? 0 : 1);
    to.gauge("epoch_ready", "Members that wait for the next epoch.", job.elastic->ready);
  }
  to.gauge("keys", "Keys that have a value.", job.keys);
  to.gauge("key_bytes", "Bytes of the values of keys.", job.key_bytes);
  to.gauge("queue_items", "Items in queues.", job.queued_items);
  to.gauge("memory_bytes", "Bytes of values, kept replies, waiting calls and open rounds.",
           job.memory_bytes);
  to.gauge("memory_limit_bytes", "The limit of coxswain_memory_bytes.", job.memory_bytes_max);
}

// Of each operation there is a series from the start, so that rates are known from the first
// request on; the codes of failures appear when they happen.
void add_requests(families& to, core::statistics const& from) {
  to.counters("requests_total", "Requests that were answered, by operation and code.");
  for (std::uint8_t op = 0; op < core::operations; ++op) {
    core::statistics::by_code const& counts = from.requests[op];
    for (std::uint32_t code = 0; code < counts.size(); ++code) {
      if (counts[code] == 0 && code != 0) continue;
      to.add({{"op", name(core::operation{op})}, {"code", coxswain::name(errc_of(code))}},
             static_cast<double>(counts[code]));
    }
  }
}

void add_jax(families& to, server::statistics const& from) {
  to.gauge("jax_connections", "Connections of unmodified JAX processes.", from.jax_connections);
  to.counters("jax_calls_total",
              "Calls of JAX processes that were answered, by method and result.");
  for (auto const& call : from.jax_calls) {
    to.add({{"method", call.method}, {"result", "ok"}},
           static_cast<double>(call.calls - call.failed));
    to.add({{"method", call.method}, {"result", "failed"}}, static_cast<double>(call.failed));
  }
}

void add_core(families& to, core::statistics const& from) {
  add_requests(to, from);
  to.counters("barrier_rounds_total", "Rounds of barriers of tasks that have ended, by code.");
  for (std::uint32_t code = 0; code < from.rounds.size(); ++code) {
    if (from.rounds[code] == 0 && code != 0) continue;
    to.add({{"code", coxswain::name(errc_of(code))}}, static_cast<double>(from.rounds[code]));
  }
  to.histogram("barrier_wait_seconds",
               "From the first arrival at a barrier of tasks to the end of the round.",
               from.barrier_wait);
  to.counter("work_steps_total", "Keys, tasks and waits visited for messages.", from.steps);
  to.histogram("deadline_lateness_seconds", "How late calls whose deadline had come were answered.",
               from.lateness);
  to.counters("sessions_expired_total", "Sessions ended by a missed heartbeat.");
  to.add({{"cause", "heartbeat"}}, static_cast<double>(from.heartbeats_expired));
  to.add({{"cause", "grace"}}, static_cast<double>(from.graces_expired));
  to.counters("redeliveries_total",
              "Items that returned to their queue unfinished: because their lease expired, or "
              "because they were released or their holder ended.");
  to.add({{"cause", "expired"}}, static_cast<double>(from.leases_expired));
  to.add({{"cause", "returned"}}, static_cast<double>(from.leases_returned));
}

void add_role(families& to, bool leads, std::uint64_t term) {
  to.gauge("leader", "1 if this coordinator leads its job, 0 if it is a standby.", leads ? 1 : 0);
  to.gauge("term", "The number of the job's present leader.", term);
}

void add_journal(families& to, server::journal_statistics const& from) {
  to.counter("journal_written_bytes_total", "Bytes written to the journal.", from.bytes_written);
  to.gauge("journal_bytes", "Size of the journal's files.", from.bytes_on_disk);
  to.gauge("journal_lacks_space", "1 if nothing more is stored because its disk is full.",
           from.lacks_space ? 1 : 0);
  to.gauge("journal_unsynchronized_bytes", "Bytes written and not yet being synchronized.",
           from.unsynchronized_bytes);
  to.histogram("journal_synchronization_seconds", "Duration of synchronizations with the disk.",
               from.synchronizations);
  to.gauge("journal_synchronizing_seconds", "How long the present synchronization has taken.",
           seconds(from.synchronizing));
  to.counters("journal_snapshots_total", "Snapshots, by result.");
  to.add({{"result", "ok"}}, static_cast<double>(from.snapshots));
  to.add({{"result", "failed"}}, static_cast<double>(from.snapshots_failed));
  to.gauge("journal_snapshot_bytes", "Size of the last snapshot.", from.snapshot_bytes);
  to.gauge("journal_snapshot_age_seconds",
           "Time since the last snapshot was begun, or since the start.",
           seconds(from.snapshot_age));
  to.gauge("journal_snapshot_stall_max_seconds",
           "Longest time that the fork for a snapshot stopped the coordinator.",
           seconds(from.snapshot_stall_max));
}

constexpr auto lag_entries_help =
    "Entries of the job's log that etcd has not confirmed to the leader, or that a standby lacks.";
constexpr auto lag_seconds_help =
    "Age of the oldest input that etcd has not confirmed; time since a standby lacked no entry.";

void add_leader(families& to, core::snapshot::leadership const& from) {
  add_role(to, true, from.term);
  to.gauge("replication_lag_entries", lag_entries_help, from.lag_entries);
  to.gauge("replication_lag_bytes", "Bytes of inputs that etcd has not confirmed to the leader.",
           from.lag_bytes);
  to.gauge("replication_lag_seconds", lag_seconds_help, seconds(from.lag));
}

// The core's memory by use. Memory not held by sessions is stored data.
void add_memory(families& to, server::statistics const& from, core::snapshot const& job) {
  to.gauges(
      "memory_class_bytes",
      "Memory by class: stored values and their changes; waiting calls, unacknowledged replies "
      "and open rounds of readers, of other sessions without a task and of tasks; messages in "
      "transit.");
  constexpr std::array<char const*, core::share_kinds> classes{"readers", "observers", "tasks"};
  auto stored = static_cast<double>(job.memory_bytes);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    auto const held = static_cast<double>(from.shares[i]);
    to.add({{"class", classes[i]}}, held);
    stored -= held;
  }
  to.add({{"class", "stored"}}, std::max(stored, 0.0));
  to.add({{"class", "transit"}}, static_cast<double>(from.transit_bytes));
}

void add_connections(families& to, server::statistics const& from) {
  to.gauge("connections", "Connections that are open.", from.connections);
  to.gauge("connections_limit", "The limit of coxswain_connections.", from.connections_max);
  to.counter("connections_accepted_total", "Connections accepted.", from.connections_accepted);
  to.counter("connections_refused_total", "Connections refused for lack of room.",
             from.connections_refused);
  to.gauge("tls_handshakes", "TLS handshakes in progress.", from.handshakes);
  to.counter("tls_handshakes_failed_total", "Failed TLS handshakes.", from.handshakes_failed);
  to.gauge("relays", "Relays that are connected.", from.relays);
  to.gauge("routes", "Connections that relays carry.", from.routes);
  to.gauge("routes_paused", "Of these, those whose clients do not read.", from.routes_paused);
  to.counter("routes_opened_total", "Connections that relays have carried.", from.routes_opened);
  to.counter("relay_exits_total", "Ends of client processes that relays have reported.",
             from.exits_reported);
  to.counter("shared_replies_total", "Replies sent to relays with one body for several routes.",
             from.replies_shared);
  to.counter("received_bytes_total", "Bytes read from connections.", from.bytes_received);
  to.counter("sent_bytes_total", "Bytes written to connections.", from.bytes_sent);
  to.counter("received_messages_total", "Messages received.", from.frames_received);
  to.counter("sent_messages_total", "Messages sent.", from.frames_sent);
  to.counter("sends_total", "System calls to send.", from.sends);
  to.gauge("send_queue_bytes", "Bytes queued for peers that do not read.", from.queued_bytes);
  to.gauge("send_queue_waiting_messages",
           "Messages that find no room even in the queues of their connections.",
           from.queued_messages);
}

void add_loop(families& to, server::statistics const& from) {
  to.histogram("barrier_release_seconds",
               "From the end of a round of a barrier to its outcome handed to the kernel for all.",
               from.releases);
  to.histogram("loop_lag_seconds", "Lateness of loop iterations that were due at a time.",
               from.loop_lag);
  to.histogram("loop_iteration_seconds", "Duration of loop iterations.", from.iterations);
  to.gauge("loop_iteration_max_seconds", "Longest loop iteration since the start.",
           seconds(from.iteration_max));
  to.histogram("connection_wait_iterations",
               "Loop iterations that messages beyond a connection's quantum waited.", from.waits);
  to.gauge("worker_wait_iterations_max",
           "Most loop iterations that messages of a task waited, within its share.",
           from.worker_wait_max);
  to.gauge("loop_iteration_steps_max", "Most steps of clients without a task in a loop iteration.",
           from.steps_max);
  to.counter("loop_stalls_total", "Stalls of the event loop that extended liveness deadlines.",
             from.core.stalls);
  to.counter("loop_stalled_seconds_total", "Total duration of the event loop's stalls.",
             seconds(from.core.stalled));
}

void add_process(families& to, process_usage const& from) {
  to.counter("process_cpu_seconds_total", "User and system CPU time.", from.cpu_seconds);
  to.gauge("process_start_time_seconds", "Start of the process in seconds since 1970.",
           from.started_unix_s);
  to.gauge("process_resident_memory_bytes", "Resident memory.", from.resident_bytes);
  to.gauge("process_virtual_memory_bytes", "Virtual memory.", from.virtual_bytes);
  to.gauge("process_open_fds", "Open file descriptors.", from.open_descriptors);
  to.gauge("process_max_fds", "Limit of open file descriptors.", from.descriptors_max);
  to.gauge("process_threads", "Threads of the process.", from.threads);
}

}  // namespace

std::string metrics(server::statistics const& counted, core::snapshot const& job,
                    process_usage const& process) {
  families all;
  add_version(all, job.version);
  all.gauges("start_time_seconds", "Start of the coordinator in seconds since 1970.");
  all.add({}, std::chrono::duration<double>{counted.started.time_since_epoch()}.count());
  add_job(all, job);
  add_jax(all, counted);
  if (counted.journal) add_journal(all, *counted.journal);
  if (job.leader) add_leader(all, *job.leader);
  add_core(all, counted.core);
  add_memory(all, counted, job);
  add_connections(all, counted);
  add_loop(all, counted);
  add_process(all, process);
  return std::move(all).text();
}

std::string metrics(server::standby_view const& of, process_usage const& process) {
  families all;
  add_version(all, of.version);
  add_role(all, false, of.term);
  all.gauge("leader_known", "1 if a standby knows of a leader.", of.leader.empty() ? 0 : 1);
  all.gauge("standby_hot", "1 if a standby can continue the job from its inputs.",
            of.obstacle.empty() ? 1 : 0);
  if (of.lag_entries) all.gauge("replication_lag_entries", lag_entries_help, *of.lag_entries);
  all.gauge("replication_lag_seconds", lag_seconds_help, seconds(of.lag));
  add_process(all, process);
  return std::move(all).text();
}

}  // namespace coxswain::status_page
