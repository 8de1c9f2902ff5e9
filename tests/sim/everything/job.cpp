#include "tests/sim/everything/job.hpp"

#include "tests/sim/everything/rules/rules.hpp"
#include "tests/sim/everything/scripts.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::sim {
namespace {

constexpr duration work_max = 10min;   // far more than any job needs
constexpr duration downtime_max = 3s;  // of the coordinator
constexpr std::uint32_t reloads = 20;
constexpr std::string_view coordinator_address = "simulated:1";

// What a session may hold when memory is full: the replies to its calls, most of them small, and
// two of the largest, one queued and one waiting. Those are snapshots of all tasks.
// A disk holds a third one back.
constexpr std::size_t memory_per_session = 3 * 1024;
constexpr std::size_t picture_bytes_per_task = 320;

// A put of two keys, which may arrive only to be refused.
constexpr std::size_t largest_request = 25'000;

core::config with_bug(core::config options, injected_bug const* wrong) {
  if (wrong && wrong->configure) wrong->configure(options);
  if (wrong && wrong->restarts == restart_bug::no_grace) options.restart_grace = 1ms;
  return options;
}

habits with(habits ways, std::function<void(std::string_view)> record, injected_bug const* wrong,
            bool checks_snapshots) {
  if (wrong) ways.wrong_restarts = wrong->restarts;
  if (wrong) ways.wrong_relays = wrong->relays;
  ways.record = std::move(record);
  ways.checks_snapshots = checks_snapshots;
  ways.keeps_recording = ways.keeps_recording || checks_snapshots;
  return ways;
}

bool one_in(generator& r, std::uint64_t n) { return between(r, 1, n) == 1; }

}  // namespace

job::job(std::uint64_t seed, injected_bug const* wrong,
         std::function<void(std::string_view)> record, bool checks_snapshots, job_kind kind,
         bool has_relays)
    : decided{seed, kind, has_relays},
      w{seed, with_bug(decided.options, wrong),
        with(decided.ways, std::move(record), wrong, checks_snapshots)},
      progress_(decided.options.num_tasks),
      checks_snapshots_{checks_snapshots} {
  w.delay_max = decided.delay_max;
  seen.options = decided.options;
  seen.limits_are_small = decided.limits_are_small;
  seen.delay_max = decided.delay_max;
  // A message waits for the synchronization that is under way, and for its own.
  if (decided.ways.has_disk) {
    seen.delay_max += 2 * synchronization_max;
    seen.seen_within = 4 * synchronization_max;  // with its request for what follows
    // Where its queue is short, each waits for what it asked for besides: keys, tasks and events.
    if (decided.limits_are_small) seen.seen_within *= 3;
  }
  if (decided.relays > 0) seen.delay_max += local_delay_max;
  seen.begun = w.now;
  seen.all_are_recoverable =
      std::count(decided.recoverable.begin(), decided.recoverable.end(), false) == 0;
  if (wrong && (wrong->up || wrong->down)) {
    bug_injector_ = std::make_unique<bug_injector>(*wrong, seed);
    w.change_up = [this](process& p, link const& line, std::string_view bytes) {
      return bug_injector_->up(p.number, line, bytes);
    };
    w.change_down = [this](process& p, link const& line, std::string_view bytes) {
      return bug_injector_->down(p.number, line, bytes);
    };
  }
}

violations job::run() {
  begin();
  plan_faults();
  plan_deaths();
  plan_restarts();
  plan_crashes();
  plan_resizes();
  plan_drain();
  plan_preemptions();
  plan_relay_faults();
  w.run(work_max, [this] {
    watch_memory();
    watch_drain();
    return is_done();
  });
  end();
  judge();
  return std::move(found_);
}

actor& job::add(std::vector<task_id> tasks, std::optional<duration> fence_after) {
  process_record about;
  about.self = incarnation{++incarnations_};
  about.born = w.now;
  for (task_id const task : tasks) {
    about.recoverable = about.recoverable || decided.recoverable[task.value];
  }
  auto addresses = any_addresses();
  about.has_relay = addresses.front() != coordinator_address;
  about.has_relays_only = addresses.back() != coordinator_address;
  process& body = w.add(tasks.size() == 1 ? std::optional{tasks.front()} : std::nullopt,
                        fence_after, std::nullopt, std::move(addresses));
  about.tasks = std::move(tasks);
  return *actors_.emplace_back(std::make_unique<actor>(*this, body, std::move(about)));
}

// The auditor has none of a relay.
std::vector<std::string> job::any_addresses() {
  std::vector<std::string> all;
  bool const has_relay = decided.relays > 0 && !actors_.empty() && !one_in(w.random, 4);
  if (has_relay) {
    std::size_t const which = between(w.random, 0, decided.relays - 1);
    all.push_back(w.relays[which]->address);
    if (decided.relays > 1 && one_in(w.random, 4)) {
      all.push_back(w.relays[(which + 1) % decided.relays]->address);
    }
  }
  if (!has_relay || !one_in(w.random, 4)) all.emplace_back(coordinator_address);
  return all;
}

void job::add_spare() {
  actor& one = add({});
  one.record().is_spare = one.record().recoverable = true;
  one.start();
}

void job::add_member(std::string name) {
  actor& one = add({});
  one.record().member = std::move(name);
  one.record().machine = any_machine(one);
  one.record().is_hosting = decided.members_have_guests && one_in(w.random, 2);
  one.record().recoverable = true;
  one.start();
}

std::string job::any_machine(actor const& one) {
  if (decided.machines > 0) return "m" + std::to_string(between(w.random, 1, decided.machines));
  return one_in(w.random, 8) ? "shared" : "of " + std::to_string(one.body.number);
}

// The process may have ended meanwhile.
void job::add_guest(std::size_t host, task_id task, std::string secret, bool is_brief) {
  process_record about;
  about.self = seen.processes[host].self;
  about.born = w.now;
  about.tasks = {task};
  about.host = host;
  about.secret = secret;
  about.is_brief = is_brief;
  process& body = w.add(task, std::nullopt, core::guest_args{task, std::move(secret)});
  actors_.emplace_back(std::make_unique<actor>(*this, body, std::move(about)))->start();
}

void job::start_guests(actor& host, task_id task, std::string const& secret) {
  bool const are_two = one_in(w.random, 3) && !decided.options.elastic;
  for (int i = are_two ? 2 : 1; i > 0; --i) {
    bool const is_brief = i == 2 && !one_in(w.random, 3);
    ++guests_to_come_[secret];
    w.at(w.now + between(w.random, 0ns, 100ms),
         [this, by = host.body.number, task, secret, is_brief] {
           --guests_to_come_[secret];
           if (!ends_) add_guest(by, task, secret, is_brief);
         });
  }
}

bool job::has_guests(std::string const& secret) const {
  auto const to_come = guests_to_come_.find(secret);
  return (to_come != guests_to_come_.end() && to_come->second > 0) ||
         std::any_of(actors_.begin(), actors_.end(), [&](auto const& one) {
           return one->record().secret == secret && !one->is_over();
         });
}

void job::begin() {
  actor& auditor = add({}, without_limit);
  auditor.body.delay_max = 0ns;
  for (auto const audit : {&audit_keys, &audit_tasks, &audit_members, &audit_events}) {
    auditor.body.work.push_back(audit(auditor));
    auditor.body.work.back().start();
  }
  for (std::uint32_t i = 1; i <= decided.relays; ++i) {
    w.add_relay("unix:relay-" + std::to_string(i));
  }
  std::uint32_t next = 0;
  auto const start_soon = [this](std::vector<task_id> tasks) {
    w.at(w.now + 1ms + between(w.random, 0ns, 400ms),
         [this, all = std::move(tasks)]() mutable { add(std::move(all)).start(); });
  };
  for (std::uint32_t const count : decided.tasks_of_process) {
    std::vector<task_id> tasks;
    for (std::uint32_t i = 0; i < count; ++i) tasks.push_back(task_id{next++});
    start_soon(std::move(tasks));
  }
  for (std::uint32_t i = 0; i < decided.observers; ++i) start_soon({});
  for (std::uint32_t i = 0; i < decided.spares; ++i) {
    w.at(w.now + 1ms + between(w.random, 0ns, 2s), [this] { add_spare(); });
  }
  for (std::uint32_t i = 0; i < decided.members; ++i) {
    duration const latest = one_in(w.random, 4) ? 4s : 400ms;
    w.at(w.now + 1ms + between(w.random, 0ns, latest), [this] { add_member(new_member()); });
  }
}

// Not the auditor, once another process exists.
actor& job::any() {
  std::size_t const last = actors_.size() - 1;
  return *actors_[between(w.random, std::min<std::size_t>(1, last), last)];
}

time_point job::soon() { return w.now + 2ms + between(w.random, 0ns, decided.horizon); }

bool job::should_fail(task_id task) {
  return decided.deaths > 0 && decided.recoverable[task.value] && one_in(w.random, 12);
}

// Unless something prevents it, another process takes its place.
void job::is_gone(actor& who) {
  who.give_up();
  if (who.record().recoverable) replace_later(who);
}

void job::has_left(actor& who) {
  if (who.is_over()) return;
  who.give_up();
  who.record().departed = w.now;
  who.body.logic.bye(w.now, false);
  if (!one_in(w.random, 4)) replace_later(who);
}

void job::replace_later(actor& who) {
  if (std::string name = who.record().member; !name.empty()) {
    if (is_late()) return;
    if (one_in(w.random, 3)) name = new_member();
    w.at(w.now + 10ms + between(w.random, 0ns, 2s), [this, name] {
      if (!is_late()) add_member(name);
    });
    return;
  }
  if (who.record().tasks.empty() || who.is_guest() || w.now > seen.begun + 3 * decided.horizon)
    return;
  w.at(w.now + 100ms + between(w.random, 0ns, 2s), [this, tasks = who.record().tasks] {
    if (!ends_) add(tasks).start();
  });
}

void job::plan_faults() {
  for (auto i = decided.faults; i > 0; --i) {
    w.at(soon(), [this] { disturb(); });
  }
}

void job::plan_deaths() {
  for (auto i = decided.deaths; i > 0; --i) {
    w.at(soon(), [this] {
      actor& who = any();
      if (&who == actors_.front().get() || who.is_over()) return;
      if (one_in(w.random, 5)) {
        // Another process joins as the same task.
        bool const has_number = !who.record().tasks.empty() && !decided.options.elastic;
        if (has_number) add(who.record().tasks).start();
        if (std::string const name = who.record().member; !name.empty()) add_member(name);
      } else if (one_in(w.random, 5)) {
        who.record().departed = w.now;
        who.give_up();
        who.body.logic.bye(w.now, true);
      } else {
        kill(who, one_in(w.random, 4));
      }
    });
  }
}

void job::plan_restarts() {
  for (auto i = decided.restarts; i > 0; --i) {
    w.at(soon(), [this] {
      actor& who = any();
      auto const& tasks = who.record().tasks;
      if (!who.record().member.empty() && !who.is_over() && !who.restarts()) {
        return who.begin_restart(false);
      }
      bool const may_leave = !who.is_over() && !who.restarts() && !tasks.empty() &&
                             who.tasks().size() == tasks.size() &&
                             std::all_of(tasks.begin(), tasks.end(), [this](task_id task) {
                               return decided.recoverable[task.value];
                             });
      if (may_leave) who.begin_restart(one_in(w.random, 2));
    });
  }
}

void job::plan_crashes() {
  for (auto i = decided.crashes; i > 0; --i) {
    w.at(soon(), [this] { w.restart_coordinator(between(w.random, 1ms, downtime_max)); });
  }
  for (auto i = decided.machine_losses; i > 0; --i) {
    w.at(soon(), [this] { w.lose_coordinator(between(w.random, 1ms, downtime_max)); });
  }
  for (auto i = decided.disk_failures; i > 0; --i) {
    w.at(soon(), [this] { w.fail_disk(between(w.random, 1ms, downtime_max)); });
  }
  for (auto i = decided.full_disks; i > 0; --i) {
    w.at(soon(), [this] { w.fill_disk(between(w.random, 1ms, 2s)); });
  }
  w.on_crash = [this](duration downtime) {
    seen.restarts.push_back({w.now, w.now + downtime});
    seen.stalls.push_back({w.now, w.now + downtime});
    // Nothing closes the connections to a machine that was lost.
    auto const until = w.is_lost() ? std::nullopt : std::optional{w.now + downtime};
    for (auto const& actor : actors_) actor->in_trouble(until, false, true);
  };
}

void job::plan_resizes() {
  for (auto i = decided.resizes; i > 0; --i) {
    w.at(soon(), [this] {
      auto const& c = decided.options;
      auto const size = static_cast<std::uint32_t>(between(w.random, c.min_tasks, c.num_tasks));
      process& auditor = actors_.front()->body;
      auditor.now = w.now;
      static_cast<void>(auditor.begin(core::resize_args{size}, 10s));
    });
  }
}

void job::plan_drain() {
  if (!decided.drains_after) return;
  w.at(w.now + *decided.drains_after, [this] {
    process& auditor = actors_.front()->body;
    auditor.now = w.now;
    static_cast<void>(auditor.begin(core::end_job_args{core::job_end::drain, "upgrade"}, 10s));
  });
}

void job::plan_preemptions() {
  for (auto i = decided.preemptions; i > 0; --i) {
    w.at(soon(), [this] {
      auto const last = decided.options.num_tasks - 1;
      task_id const task{static_cast<std::uint32_t>(between(w.random, 0, last))};
      process& auditor = actors_.front()->body;
      auditor.now = w.now;
      core::preempt_args notice{task, between(w.random, 0ns, 3s)};
      static_cast<void>(auditor.begin(std::move(notice), 10s));
    });
  }
}

void job::plan_relay_faults() {
  for (auto i = decided.relay_faults; i > 0; --i) {
    w.at(soon(), [this] { disturb_relay(*w.relays[between(w.random, 0, decided.relays - 1)]); });
  }
  w.on_relay_end = [this](relay_process& relay) {
    restart_relay_later(relay, between(w.random, 1ms, 1s));
  };
}

// Both sides notice at once that a process has ended.
void job::restart_relay_later(relay_process& relay, duration downtime) {
  relay_in_trouble(relay);
  w.at(w.now + downtime, [this, &relay] {
    if (!ends_) w.start_relay(relay);
  });
}

void job::relay_in_trouble(relay_process const& relay, std::optional<time_point> until) {
  for (auto const& actor : actors_) {
    auto const died = actor->record().died;
    if (actor->is_at(relay) && (!died || w.now < *died + 1s)) actor->in_trouble(until, true);
  }
}

void job::disturb_relay(relay_process& relay) {
  if (!relay.is_alive() || ends_) return;
  process& body = relay.body();
  switch (between(w.random, 0, 5)) {
    case 0:
    case 1:
      restart_relay_later(relay, between(w.random, 1ms, one_in(w.random, 6) ? 10s : 2s));
      return relay.die();
    case 2: {
      duration const time = between(w.random, 0ns, one_in(w.random, 3) ? 10s : 600ms);
      relay_in_trouble(relay, w.now + time);
      return w.pause(body, time);
    }
    default: break;
  }
  relay_in_trouble(relay);
  if (!body.line) return;
  switch (between(w.random, 0, 3)) {
    case 0: return w.cut_silently(body);
    case 1: body.line->up.stop_after(body.line->up.arrived() + between(w.random, 0, 200)); break;
    case 2:
      body.line->down.stop_after(body.line->down.arrived() + between(w.random, 0, 200));
      break;
    default: return w.cut(body);
  }
  w.at(w.now + 300ms, [this, &body, line = body.line] {
    if (body.line == line) w.cut(body);
  });
}

void job::kill(actor& who, bool silently) {
  process_record& r = who.record();
  // Within a host nothing is lost.
  if (who.body.line && who.body.line->via) silently = false;
  r.died = w.now;
  r.is_silent = silently;
  if (silently) w.cut_silently(who.body);
  w.kill(who.body);
  if (!who.is_guest() && one_in(w.random, 3)) {
    w.at(w.now + between(w.random, 1ms, 100ms), [this, self = r.self] {
      if (w.is_down()) return;
      for (auto const& task : w.coordinator.look(w.now).tasks) {
        if (task.self != self) continue;
        static_cast<void>(w.coordinator.put_in(
            w.now, core::process_ended{task.id, {errc::unavailable, "it was killed"}}));
      }
    });
  }
  if (r.recoverable) replace_later(who);
}

void job::disturb() {
  actor& who = any();
  if (&who == actors_.front().get() || !who.body.alive) return;
  switch (between(w.random, 0, 9)) {
    case 0: {
      // Longer ones, and several in a row, make clients drop connections; without a grace their
      // sessions end.
      bool const has_grace = seen.options.reconnect_grace > 0s;
      duration const most = has_grace ? duration{1s} : seen.options.heartbeat_timeout / 7;
      bool const has_stood_still =
          !seen.stalls.empty() && w.now < seen.stalls.back().to + seen.options.heartbeat_timeout;
      if (!has_grace && has_stood_still) break;
      duration const time = between(w.random, 0ns, most);
      w.stall(time);
      seen.stalls.push_back({w.now, w.now + time});
      break;
    }
    case 1:
      w.refuse_connections(between(w.random, 0ns, 500ms));
      who.in_trouble();
      w.cut(who.body);
      break;
    case 2: {
      duration const time = between(w.random, 0ns, one_in(w.random, 6) ? 8s : 600ms);
      w.pause(who.body, time);
      who.in_trouble(w.now + time);
      break;
    }
    case 3: {
      duration const time = between(w.random, 0ns, 3s);
      w.read_slowly(who.body, time);
      who.in_trouble(w.now + time);
      break;
    }
    default: disturb_connection(who); break;
  }
}

void job::disturb_connection(actor& who) {
  who.in_trouble();
  auto const& line = who.body.line;
  if (!line) return;
  switch (between(w.random, 0, 3)) {
    case 0: return line->via ? w.cut(who.body) : w.cut_silently(who.body);
    case 1: return line->up.stop_after(line->up.arrived() + between(w.random, 0, 60));
    case 2: return line->down.stop_after(line->down.arrived() + between(w.random, 0, 60));
    default: return w.cut(who.body);
  }
}

void job::watch_memory() {
  if (!found_.empty()) return;
  auto const& meter = *w.coordinator.logic().memory();
  std::size_t const largest = picture_bytes_per_task * decided.options.num_tasks;
  std::size_t const pictures = decided.ways.has_disk ? 3 : 2;
  std::size_t const most =
      seen.options.memory_bytes_max + largest_request +
      (memory_per_session + pictures * largest) * (actors_.size() + w.relays.size());
  if (meter.used() + meter.transit() <= most) return;
  found_.push_back(seen.text(w.now) + ": " + std::to_string(meter.used() + meter.transit()) +
                   " bytes of memory are used; the limit is " +
                   std::to_string(seen.options.memory_bytes_max));
}

// They only become fewer, and the job is over exactly when none is left.
void job::watch_drain() {
  auto const& logic = w.coordinator.logic();
  bool const is_watched = logic.is_draining() && decided.options.num_tasks <= 16;
  if (!is_watched || !found_.empty()) return draining_.reset();
  std::set<incarnation> present;
  for (auto const& task : logic.look(w.now).tasks) {
    if (task.state == task_state::connected) present.insert(task.self);
  }
  bool const is_fewer = !draining_ || std::includes(draining_->begin(), draining_->end(),
                                                    present.begin(), present.end());
  if (!is_fewer) found_.push_back(seen.text(w.now) + ": a process joins a job that drains");
  if (logic.done() != present.empty()) {
    found_.push_back(seen.text(w.now) + ": a job that drains is over with " +
                     std::to_string(present.size()) + " processes in it");
  }
  draining_ = std::move(present);
}

bool job::is_done() const {
  if (w.now < seen.begun + decided.horizon) return false;
  return std::all_of(actors_.begin() + 1, actors_.end(), [](auto const& a) {
    auto const& work = a->body.work;
    return !a->body.alive ||
           std::all_of(work.begin(), work.end(), [](script const& s) { return s.done(); });
  });
}

void job::end() {
  ends_ = true;
  w.spare_coordinator();
  for (std::size_t i = 1; i < actors_.size(); ++i) {
    actor& one = *actors_[i];
    if (one.body.alive && one.body.waiting() > 0) {
      found_.push_back("process " + std::to_string(i) + " waits for ever for " +
                       std::to_string(one.body.waiting()) + " answers");
    }
  }
  // Until the coordinator has noticed all dead processes.
  w.pass(seen.options.reconnect_grace + seen.options.restart_grace +
         seen.options.heartbeat_timeout + seen.options.return_timeout + 2s);
  seen.ended = w.now;
  for (std::size_t i = 1; i < actors_.size(); ++i) {
    actor& one = *actors_[i];
    one.record().completed_twice = one.body.completed_twice;
    one.record().is_certain = one.body.is_reported;
    one.record().is_quiet = one.body.logic.over();
    one.give_up();
    if (!one.body.alive || one.body.logic.over()) continue;
    one.record().departed = w.now;
    one.body.logic.bye(w.now, false);
  }
  w.run(1min, [this] {
    auto const now = w.coordinator.look(w.now);
    return now.sessions <= 1 + now.relays.size();
  });
  w.at(w.now + 10ms, [] {});
  w.pass(10ms);
  seen.failure = w.coordinator.error();
  actor& auditor = *actors_.front();
  auditor.body.work.push_back(clean_up(auditor));
  auditor.body.work.back().start();
  w.run(1min, [&] { return auditor.body.work.back().done(); });
  w.pass(1s);  // until it has seen all that was removed, page by page
  auditor.give_up();
  check_end();
}

void job::check_end() {
  auto const expect = [this](std::uint64_t count, std::string const& of) {
    if (count != 0) found_.push_back("at the end there are " + std::to_string(count) + " " + of);
  };
  actors_.front()->record().departed = w.now;
  actors_.front()->body.logic.bye(w.now, false);
  w.on_relay_end = nullptr;
  for (auto const& relay : w.relays) {
    relay->body().paused_until = w.now;
    relay->body().logic.bye(w.now, false);
  }
  if (decided.relays > 0) w.run(1min, [this] { return w.coordinator.look(w.now).sessions == 0; });
  w.pass(1s);
  core::snapshot const left = w.coordinator.look(w.now);
  expect(left.sessions, "sessions");
  expect(left.barriers.size(), "open barriers");
  expect(left.waiting_gets, "waiting gets");
  expect(left.waiting_pops, "waiting pops");
  expect(left.waiting_key_watches, "waiting watches of keys");
  expect(left.waiting_locks, "calls that wait for a lock");
  expect(left.locks_held, "locks");
  expect(left.spares_waiting, "processes that wait for a number");
  expect(left.queued_items, "items in queues");
  expect(left.leased_items, "items under a lease");
  expect(left.keys, "keys");
  w.coordinator.check_invariants();
  if (w.journal.is_damaged()) found_.push_back("the journal was damaged");
  if (decided.checks_recording) {
    if (std::string fault = w.fault_of_recording(); !fault.empty()) found_.push_back(fault);
  }
  if (checks_snapshots_ && decided.crashes == 0) {
    std::string fault = w.fault_of_snapshots();
    if (fault.empty()) fault = w.fault_of_reloads(reloads);
    if (!fault.empty()) found_.push_back(std::move(fault));
  }
  static_cast<void>(w.coordinator.put_in(w.now, core::stopped{"the simulation is over"}));
  w.pass(1s);
  expect(w.coordinator.logic().memory()->used(), "bytes of memory in use");
  expect(w.coordinator.next_deadline().has_value() ? 1 : 0, "armed deadlines");
}

void job::judge() {
  found_.insert(found_.end(), w.faults_of_relays.begin(), w.faults_of_relays.end());
  if (seen.is_blind && !seen.limits_are_small) found_.push_back("the auditor was refused");
  for (rule const& one : all_rules) {
    if (decided.options.elastic && !one.in_elastic) continue;
    if (!one.needs_sight || !seen.is_blind) one.check(seen, found_);
  }
}

}  // namespace coxswain::sim
