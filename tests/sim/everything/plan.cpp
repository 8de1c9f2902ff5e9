#include "tests/sim/everything/plan.hpp"

#include <algorithm>

namespace coxswain::sim {
namespace {

bool one_in(generator& r, std::uint64_t n) { return between(r, 1, n) == 1; }

std::uint32_t any(generator& r, std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint32_t>(between(r, low, high));
}

std::uint32_t any_size(generator& r) {
  if (one_in(r, 100)) return any(r, 100, 200);
  if (one_in(r, 25)) return any(r, 20, 80);
  if (one_in(r, 4)) return any(r, 8, 16);
  return any(r, 2, 7);
}

void limit(generator& r, core::config& c, habits& ways) {
  if (one_in(r, 2)) c.memory_bytes_max = between(r, 16, 48) * 1024;
  if (one_in(r, 2)) ways.queued_bytes_max = between(r, 256, 4096);
  if (one_in(r, 2)) c.owed_outcomes_max = between(r, 0, 4);
  if (one_in(r, 2)) {
    c.open_requests_max = any(r, 8, 16);
    c.open_requests_max_per_task = any(r, 4, 8);
  }
  if (one_in(r, 2)) c.changes_max = between(r, 4, 64);
  if (one_in(r, 2)) c.gather_bytes_max = between(r, 64, 512);
  if (one_in(r, 2)) c.changes_per_answer_max = between(r, 1, 4);
  if (one_in(r, 2)) {
    c.events_max = between(r, 8, 64);
    c.events_alike_max = c.events_max / 8;
  }
}

core::config any_options(generator& r) {
  core::config c;
  c.num_tasks = any_size(r);
  c.heartbeat_timeout = duration{1ms} * static_cast<int>(between(r, 2000, 6000));
  c.reconnect_grace = one_in(r, 8) ? 0ms : duration{1ms} * static_cast<int>(between(r, 300, 1500));
  c.hello_timeout = 3s;
  c.stalled_reader_timeout = 2s;
  c.join_barrier = !one_in(r, 6);
  c.leave_barrier = !one_in(r, 3);
  c.leave_together = one_in(r, 3);
  c.return_timeout = duration{1ms} * static_cast<int>(between(r, 500, 3000));
  c.preemption_lead = one_in(r, 2) ? 15min : 2s;
  c.preemption_timeout = 4s;
  c.waiting_log_period = one_in(r, 2) ? 1s : 0s;
  c.events_alike_max = 1'000'000;  // so that the auditor sees each
  if (one_in(r, 3)) c.page_entries_max = any(r, 1, 3);
  if (one_in(r, 3)) c.changes_looked_at_max = any(r, 1, 5);
  if (one_in(r, 3)) c.participants_per_picture_max = any(r, 1, 40);
  return c;
}

std::vector<task_id> any_subset(generator& r, std::uint32_t num_tasks) {
  std::vector<task_id> all;
  for (std::uint32_t i = 0; i < num_tasks; ++i) {
    if (one_in(r, 2)) all.push_back(task_id{i});
  }
  return all;
}

gathering any_gathering(generator& r, std::uint32_t num_tasks) {
  gathering g;
  g.timeout = duration{1ms} * static_cast<int>(between(r, 800, 4000));
  g.name = one_in(r, 3) ? "second" : "first";
  if (one_in(r, 8)) {
    g.what = gathering::kind::count_barrier;
  } else if (one_in(r, 6)) {
    g.what = gathering::kind::alive;
  } else if (one_in(r, 8)) {
    g.what = gathering::kind::topology;
  }
  if (one_in(r, 4)) g.participants = any_subset(r, num_tasks);
  // With other participants, a round of the name would have to be opened by a participant of the
  // last.
  if (!g.participants.empty()) g.name = "some " + std::to_string(between(r, 1, 1'000'000));
  g.fails_when_lost = one_in(r, 6);
  g.gathers = one_in(r, 3);
  if (!g.gathers && one_in(r, 2)) {
    using enum core::reduction;
    constexpr std::array ways{sum_int64, min_int64, max_int64, bit_and, bit_or};
    g.reduce = ways[between(r, 0, ways.size() - 1)];
  }
  return g;
}

}  // namespace

plan::plan(std::uint64_t seed, job_kind kind, bool has_relays) {
  generator r{seed * 7919 + 17};
  options = any_options(r);
  std::uint32_t const n = options.num_tasks;
  limits_are_small = one_in(r, 4) && kind != job_kind::large;
  if (limits_are_small) limit(r, options, ways);
  delay_max = duration{1us} * static_cast<int>(between(r, 50, one_in(r, 3) ? 60'000 : 3'000));
  std::uint32_t const most = one_in(r, 4) ? 4 : 1;
  for (std::uint32_t i = 0; i < n; i += tasks_of_process.back()) {
    tasks_of_process.push_back(any(r, 1, std::min(most, n - i)));
  }
  auto const way = between(r, 0, 2);
  for (std::uint32_t i = 0; i < n; ++i)
    recoverable.push_back(way == 0 || (way == 1 && one_in(r, 2)));
  observers = one_in(r, 3) ? any(r, 1, 2) : 0;
  for (auto i = between(r, 1, n > 40 ? 3 : 8); i > 0; --i) {
    gatherings.push_back(any_gathering(r, n));
  }
  side_scripts = n > 40 ? any(r, 0, 1) : any(r, 0, 2);
  side_script_steps = any(r, 2, n > 40 ? 4 : 14);
  faults = one_in(r, 4) ? 0 : any(r, 1, 8);
  deaths = one_in(r, 2) ? 0 : any(r, 1, 3);
  restarts = one_in(r, 2) ? 0 : any(r, 1, 4);
  ways.steps_per_check = n <= 7 ? 1 : n;
  checks_recording = !limits_are_small && n <= 16 && one_in(r, 8);
  ways.keeps_recording = checks_recording;
  bool const has_guests = one_in(r, 4);
  for (std::uint32_t i = 0; i < n; ++i) hosted.push_back(has_guests && one_in(r, 2));
  if (way == 0 && !has_guests && n <= 40) {
    generator s{seed * 104'729 + 3};  // so that other jobs stay as they were
    spares = one_in(s, 2) ? any(s, 1, 4) : 0;
    options.spares = any(s, 0, spares);
    options.assign = static_cast<core::assignment>(between(s, 0, 2));
    options.last_call = duration{1ms} * static_cast<int>(between(s, 0, 500));
    options.come_back = duration{1ms} * static_cast<int>(between(s, 0, 1500));
  }
  if (kind != job_kind::fixed) {
    make_elastic(generator{seed * 15'485'863 + 5}, kind == job_kind::large);
  }
  generator s{seed * 32'452'843 + 11};
  has_relays = has_relays || (one_in(s, 8) && kind != job_kind::large);
  if (has_relays) add_relays(s);
  generator d{seed * 67'867'967 + 31};
  if (one_in(d, 6) && kind != job_kind::large) drains_after = between(d, 2ms, horizon);
  crashes = one_in(r, 3) ? any(r, 1, 3) : 0;
  if (crashes == 0) return;
  generator t{seed * 49'979'687 + 23};
  machine_losses = any(t, 0, 2);
  options.restart_grace = duration{1ms} * static_cast<int>(between(t, 1500, 8000));
  ways.has_journal = true;
  ways.has_disk = one_in(r, 2);
  if (ways.has_disk && one_in(r, 3)) disk_failures = any(r, 1, 2);
  if (ways.has_disk) {  // the auditor would wait for it with each page
    options.changes_per_answer_max = core::config{}.changes_per_answer_max;
    options.changes_looked_at_max = core::config{}.changes_looked_at_max;
  }
  if (one_in(r, 2)) ways.batches_per_snapshot = any(r, 1, 200);
  // Then calls are refused, as when memory is scarce.
  if (limits_are_small && one_in(r, 2)) full_disks = any(r, 1, 2);
  checks_recording = ways.keeps_recording = false;
  if (machine_losses == 0 || !one_in(t, 2)) return;
  // Heartbeats alone notice too late that the machine is gone, and little else happens.
  std::uint64_t const longest = one_in(t, 2) ? 60 : 300;
  options.heartbeat_timeout = duration{1s} * static_cast<int>(between(t, 20, longest));
  options.restart_grace = duration{1ms} * static_cast<int>(between(t, 1000, 60'000));
  options.reconnect_grace = duration{1ms} * static_cast<int>(between(t, 10, 60'000));
  options.relay_grace = duration{1ms} * static_cast<int>(between(t, 10, 60'000));
  machine_losses = 1;
  crashes = faults = relay_faults = deaths = restarts = disk_failures = full_disks = 0;
}

void plan::add_relays(generator r) {
  relays = any(r, 1, 3);
  relay_faults = one_in(r, 4) ? 0 : any(r, 1, 6);
  options.relay_grace = duration{1ms} * static_cast<int>(between(r, 2500, 5000));
}

void plan::make_elastic(generator r, bool is_large) {
  core::config& c = options;
  c.num_tasks = is_large ? 32 : any(r, 1, 7);
  c.elastic = true;
  c.min_tasks = any(r, 1, (c.num_tasks + 1) / 2);
  c.spares = any(r, 0, 3);
  c.grow = one_in(r, 4) ? core::growth::now : core::growth::boundary;
  if (one_in(r, 8) && !is_large) c.grow = core::growth::never;
  c.ranks = one_in(r, 4) ? core::rank_order::member : core::rank_order::keep;
  c.epoch_timeout = one_in(r, 8) ? 0ms : duration{1ms} * static_cast<int>(between(r, 1500, 6000));
  c.min_wait = is_large ? 60s : duration{1ms} * static_cast<int>(between(r, 2000, 15'000));
  c.last_call = duration{1ms} * static_cast<int>(between(r, 0, 500));
  c.come_back = duration{1ms} * static_cast<int>(between(r, 0, 1500));
  c.epochs_max = one_in(r, 12) && !is_large ? between(r, 3, 10) : 0;
  c.join_barrier = c.leave_barrier = true;
  c.leave_together = false;
  tasks_of_process.clear();
  recoverable.assign(c.num_tasks, true);
  hosted.assign(c.num_tasks, false);
  spares = 0;
  members = any(r, c.min_tasks, c.num_tasks + c.spares);
  resizes = one_in(r, 3) ? any(r, 1, 2) : 0;
  deaths = any(r, 0, 6);
  restarts = any(r, 0, 3);
  ways.steps_per_check = c.num_tasks <= 7 ? 1 : c.num_tasks;
  if (one_in(r, 5) && !is_large) {  // some lose many members, and wait
    machines = any(r, 1, 3);
    deaths = any(r, 4, 12);
    if (one_in(r, 2)) horizon = 30s;
  }
  preemptions = one_in(r, 2) ? any(r, 1, 3) : 0;
  members_have_guests = one_in(r, 4) && !is_large;
  if (!is_large) return;
  members = c.num_tasks;
  horizon = 30s;
  faults = 30;
  deaths = 40;
  restarts = 10;
  side_scripts = 0;
  checks_recording = ways.keeps_recording = false;
}

}  // namespace coxswain::sim
