#include "tests/sim/world.hpp"

#include "coxswain/server/recording/replay.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace coxswain::sim {
namespace {

using taken = server::dispatch::taken;

constexpr time_point started{1h};

server::options with(core::config core, habits const& ways) {
  server::options o;
  o.core = std::move(core);
  o.queued_bytes_max = ways.queued_bytes_max;
  if (!ways.keeps_recording) o.record_bytes_max = 0;
  o.record = ways.record;
  if (ways.keeps_recording && !o.record) o.record = [](std::string_view) {};  // for its digests
  return o;
}

}  // namespace

world::world(std::uint64_t seed, core::config given, habits ways)
    : now{started},
      random{seed},
      options{with(std::move(given), ways)},
      journal{ways.has_disk, ways.batches_per_snapshot, ways.wrong_restarts},
      coordinator{options, server::core_origin{.self = incarnation{seed | 1},
                                               .now = started,
                                               .log = ways.has_journal ? &journal : nullptr}},
      ways_{ways} {}

process& world::add(std::optional<task_id> task, std::optional<duration> fence_after,
                    std::optional<core::guest_args> acts_for, std::vector<std::string> addresses) {
  agent_options o;
  o.addresses = std::move(addresses);
  o.hello.label = task ? "host" + std::to_string(task->value) + ":1" : "observer:1";
  o.hello.acts_for = std::move(acts_for);
  o.task = task;
  o.fence_after = fence_after;
  o.seed = ++processes_seeded_;
  process& p = *processes.emplace_back(std::make_unique<process>(std::move(o), task));
  p.number = processes.size() - 1;
  p.now = now;
  p.logic.start(now);
  return p;
}

relay_process& world::add_relay(std::string address) {
  auto& one = *relays.emplace_back(
      std::make_unique<relay_process>(*this, std::move(address), ways_.wrong_relays));
  start_relay(one);
  return one;
}

void world::at(time_point when, std::function<void()> what) {
  plans_.emplace(when, std::move(what));
}

void world::cut(process& p) {
  if (!p.line) return;
  p.line->up.cut(now, random, 5ms);
  p.line->down.cut(now, random, 5ms);
}

void world::cut_silently(process& p) {
  if (!p.line) return;
  p.line->up.mute();
  p.line->down.mute();
}

void world::kill(process& p) {
  p.alive = false;
  if (p.line) p.line->up.finish(now, random, 2ms);
}

void world::pause(process& p, duration time) {
  p.paused_until = std::max(p.paused_until, now + time);
}
void world::stall(duration time) { stalled_until_ = std::max(stalled_until_, now + time); }
void world::refuse_connections(duration time) { refusing_until_ = now + time; }
void world::read_slowly(process& p, duration time) {
  if (p.line) p.line->unread_until = now + time;
}

void world::restart_coordinator(duration downtime) {
  if (is_down()) return;
  dies_for_ = downtime;
  dies_when_ = static_cast<kill_point>(between(random, 0, 2));
}

void world::lose_coordinator(duration downtime) {
  if (is_down() || dies_for_) return;
  restart_coordinator(downtime);
  is_lost_ = true;
}

link* world::observers_line() {
  auto const& line = processes.front()->line;
  return line && line->server_knows ? line.get() : nullptr;
}

// It has resumed, and has seen what happened meanwhile.
bool world::observer_is_back() {
  link const* const line = observers_line();
  return line != nullptr && coordinator.is_greeted(line->at_server) && line->up.next() > now &&
         line->down.next() > now;
}

// Before anything is written.
void world::commit() {
  if (ways_.wrong_restarts != restart_bug::early_answers) {
    static_cast<void>(coordinator.commit());
  }
}

// Takes a while, and begins only when something waits for it.
void world::synchronize() {
  if (synchronized_at_ && *synchronized_at_ <= now) {
    synchronized_at_.reset();
    if (disk_fails_for_) {
      dies_for_ = std::exchange(disk_fails_for_, std::nullopt);
      if (!journal.fails_to_synchronize()) return crash();
      dies_for_.reset();
    }
    journal.synchronized();
    while (coordinator.release(dirty_)) take_from_coordinator();
  }
  if (synchronized_at_ || !coordinator.awaits_durability()) return;
  journal.begin_to_synchronize();
  synchronized_at_ = now + between(random, 0ns, synchronization_max);
}

// The observer gets everything that was committed, and others what was written before.
void world::die_after_commit() {
  process& observer = *processes.front();
  link* const line = observers_line();
  std::vector<connection_id> others;
  auto const write_to_observer = [&] {
    for (connection_id const id : dirty_) {
      if (line != nullptr && id == line->at_server) {
        write_out(*line, observer);
      } else {
        others.push_back(id);
      }
    }
  };
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    commit();
    journal.begin_to_synchronize();
    journal.synchronized();
    while (coordinator.deliver(dirty_)) write_to_observer();
    while (coordinator.release(dirty_)) write_to_observer();
    if (line == nullptr) break;
    if (auto const bytes = line->down.take(now); !bytes.empty()) {
      observer.logic.received(now, bytes);
      take_from(observer);
    }
    coordinator.begin();
    bool const was_paused = line->reading_paused;
    if (!is_read(*line)) continue;
    goes_on = was_paused;
    if (auto const bytes = line->up.take(now); !bytes.empty()) {
      line->reading_paused = coordinator.received(now, line->at_server, bytes) != taken::all;
      goes_on = true;
    }
  }
  commit();
  others.resize(dies_when_ == kill_point::while_writing ? between(random, 0, others.size()) : 0);
  for (connection_id const id : others) {
    auto const at_link = std::find_if(links_.begin(), links_.end(), [id](auto const& l) {
      return l.first->server_knows && l.first->at_server == id;
    });
    if (at_link != links_.end()) write_out(*at_link->first, *at_link->second);
  }
  crash();
}

// Uncommitted inputs and unwritten output are lost.
void world::crash() {
  duration const downtime = *std::exchange(dies_for_, std::nullopt);
  if (on_crash) on_crash(downtime);
  journal.crash(random);
  synchronized_at_.reset();
  disk_is_full_.reset();
  for (auto const& [line, p] : links_) {
    if (line->via) continue;
    if (is_lost_ && p->number != 0) {
      line->up.mute();
      line->down.mute();
    } else {
      line->up.cut(now, random, 0ns);
      line->down.finish(now, random, 2ms);
    }
    line->server_knows = line->waits_to_be_accepted = false;
  }
  std::destroy_at(&coordinator);
  // The next one's would begin with a head of its own, and lack the inputs so far.
  if (options.record) options.record = [](std::string_view) {};
  std::construct_at(
      &coordinator, options,
      server::core_origin{.now = now, .log = &journal, .restored = journal.restored(started)});
  down_until_ = stalled_until_ = now + downtime;
  awaits_observer_ = true;
  at(down_until_, [this, downtime] {
    is_lost_ = false;
    static_cast<void>(coordinator.put_in(now, core::restarted{downtime}));
  });
}

// A restarted coordinator is notified in any case.
void world::watch_space() {
  bool const is_full = disk_is_full_until_ > now;
  if (disk_is_full_ == is_full) return;
  disk_is_full_ = is_full;
  static_cast<void>(coordinator.put_in(
      now, core::storing_refused{is_full ? "no space is left on the journal's disk" : ""}));
}

void world::open_link(process& p, std::size_t address) {
  auto line = std::make_shared<link>();
  line->number = ++links_opened_;
  line->address = address;
  auto const relay = std::find_if(relays.begin(), relays.end(), [&](auto const& one) {
    return one->address == p.logic.address(address);
  });
  if (relay != relays.end()) line->via = relay->get();
  line->delay_max = line->via ? local_delay_max : p.delay_max.value_or(delay_max);
  p.opening[address] = line;
  if (!p.line) p.line = line;
  at(now + between(random, 0ns, 2 * line->delay_max), [this, &p, line] { link_opens(p, line); });
}

bool world::is_refused(process const& p, link const& line) const {
  if (line.via) return !line.via->is_alive();
  return refusing_until_ > now || is_down() || (awaits_observer_ && p.number != 0);
}

void world::link_opens(process& p, std::shared_ptr<link> const& line) {
  auto const attempt = p.opening.find(line->address);
  if (attempt == p.opening.end() || attempt->second != line) return;
  if (is_lost_ && is_down() && !line->via && p.number != 0) return;  // nobody answers
  p.opening.erase(attempt);
  if (is_refused(p, *line)) {
    if (p.line == line) p.line.reset();
    status const why{errc::unavailable, "connection refused"};
    if (p.alive) p.logic.connect_failed(now, line->address, why, true);
    if (p.alive && p.relay) p.relay->trunk_failed(why);
    return;
  }
  if (line->via && !p.alive) return;
  links_.emplace_back(line, &p);
  if (line->via) {
    line->via->accept(line, p);
  } else {
    // As with a kernel's backlog, the client is connected before the coordinator accepts.
    line->waits_to_be_accepted = true;
  }
  if (on_link) on_link(*line);
  if (!p.alive) return line->up.finish(now, random, 1ms);
  p.line = line;
  if (p.relay) p.relay->trunk_opened();
  p.logic.connected(now, line->address);
}

void world::accept(link& line) {
  core::session_secret secret;
  for (auto& byte : secret) byte = static_cast<std::uint8_t>(between(random, 0, 255));
  line.at_server = coordinator.open(now, "10.0.0.1:1", secret);
  line.waits_to_be_accepted = false;
  line.server_knows = true;
}

void world::close_at_client(process& p, std::size_t address) {
  std::shared_ptr<link> line;
  if (auto const attempt = p.opening.find(address); attempt != p.opening.end()) {
    line = attempt->second;
    p.opening.erase(attempt);
  } else if (p.line && p.line->address == address) {
    line = p.line;
  }
  if (!line) return;
  line->up.finish(now, random, line->delay_max);
  if (p.line == line) p.line.reset();
}

void world::deliver_to_coordinator() {
  if (stalled_until_ > now) return;
  coordinator.begin();
  for (std::size_t i = 0; i < links_.size(); ++i) {
    link& line = *links_[i].first;
    if (line.waits_to_be_accepted) accept(line);
    if (!line.server_knows || !is_read(line) || line.up.next() > now) continue;
    std::string bytes = line.up.take(now);
    if (change_up && !links_[i].second->relay) bytes = change_up(*links_[i].second, line, bytes);
    if (!bytes.empty()) {
      line.reading_paused = coordinator.received(now, line.at_server, bytes) != taken::all;
    }
    if (line.up.stopped()) {
      line.up.cut(now, random, 0ns);
      line.down.cut(now, random, 5ms);
    }
    if (!line.up.ended()) continue;
    if (line.reading_paused) hear_to_the_end(line);
    line.server_knows = false;
    line.down.finish(now, random, 1ms);
    coordinator.lost(now, line.at_server, core::loss::closed);
  }
  watch_space();
  coordinator.advance(now);
  if (dies_for_ && !coordinator.is_committed()) {
    return dies_when_ == kill_point::before_commit ? crash() : die_after_commit();
  }
  commit();
  write_to_late_readers();
  while (coordinator.deliver(dirty_)) take_from_coordinator();
  static_cast<void>(coordinator.commit());
  synchronize();
  if (journal.wants_snapshot()) {
    static_cast<void>(coordinator.commit());
    static_cast<void>(journal.write_snapshot(coordinator.logic(), false));
  }
  if (awaits_observer_ && observer_is_back()) awaits_observer_ = false;
  if (++steps_ % ways_.steps_per_check == 0) coordinator.check_invariants();
  if (ways_.checks_snapshots && snapshot_fault_.empty()) check_snapshot();
}

void world::check_snapshot() {
  core::coordinator const& saved = coordinator.logic();
  std::string snapshot;
  auto const digest = saved.save([&snapshot](std::string_view bytes) { snapshot += bytes; });
  auto const loaded = core::coordinator::load(saved.options(), snapshot, started);
  if (!loaded) {
    snapshot_fault_ = loaded.error().text();
  } else if (loaded->digest() != digest) {
    snapshot_fault_ = "the loaded coordinator differs from the saved one";
  } else {
    loaded->check_invariants();
  }
  if (!snapshot_fault_.empty()) snapshot_fault_ += " in step " + std::to_string(steps_);
}

// A paused peer is not read unless its connection has ended.
bool world::is_read(link& line) {
  connection_id const id = line.at_server;
  if (!line.reading_paused && !coordinator.out(id).pauses_reading()) return true;
  if (coordinator.out(id).pauses_reading() && line.up.end() <= now) {
    hear_to_the_end(line);
    line.reading_paused = false;
  } else {
    line.reading_paused = coordinator.go_on(now, id) != taken::all;
  }
  return !line.reading_paused;
}

// As when a write fails.
void world::hear_to_the_end(link const& line) {
  coordinator.broke(line.at_server);
  while (coordinator.go_on(now, line.at_server) != taken::all) coordinator.begin();
}

time_point world::next_read(link const& line) const {
  bool const pauses_reading = coordinator.out(line.at_server).pauses_reading();
  if (line.reading_paused && !pauses_reading) return now;
  return pauses_reading ? line.up.end() : line.up.next();
}

void world::write_to_late_readers() {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    auto const [line, p] = links_[i];
    if (!line->server_knows || line->unread_until == time_point{} || line->unread_until > now) {
      continue;
    }
    line->unread_until = {};
    write_out(*line, *p);
  }
}

void world::take_from_coordinator() {
  commit();
  for (connection_id const id : dirty_) {
    auto const at_link = std::find_if(links_.begin(), links_.end(), [id](auto const& l) {
      return l.first->server_knows && l.first->at_server == id;
    });
    if (at_link != links_.end()) write_out(*at_link->first, *at_link->second);
  }
}

void world::write_out(link& line, process& p) {
  connection_id const id = line.at_server;
  server::outbox& out = coordinator.out(id);
  if (line.unread_until > now) {
    // As with a socket's buffer, the end of the connection follows the unread bytes.
    if (out.has_writable()) return coordinator.write_blocked(now, id);
    if (!out.ends()) return;
  }
  std::array<iovec, 16> parts;
  for (auto filled = out.fill(parts); !filled.empty(); filled = out.fill(parts)) {
    std::string bytes;
    for (iovec const& part : filled) {
      bytes.append(static_cast<char const*>(part.iov_base), part.iov_len);
    }
    coordinator.wrote(now, id, bytes.size());
    if (change_down && !p.relay) bytes = change_down(p, line, bytes);
    line.down.send(now, random, line.delay_max, bytes);
  }
  if (!out.ends() || !out.empty()) return;
  line.server_knows = false;
  line.down.finish(now, random, line.delay_max);
  coordinator.lost(now, id, core::loss::closed);
}

void world::deliver_to_processes() {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    auto const [line, p] = links_[i];
    bool const is_trunk = p->relay && p->line == line;
    if (is_trunk || !is_running(*p) || line->down.next() > now) continue;
    std::string const bytes = line->down.take(now);
    if (p->line != line) continue;
    if (!bytes.empty()) p->logic.received(now, bytes);
    if (line->down.stopped()) {
      line->down.cut(now, random, 0ns);
      line->up.cut(now, random, 5ms);
    }
    if (!line->down.ended() || p->line != line) continue;
    if (line->via) line->up.finish(now, random, line->delay_max);
    p->line.reset();
    p->logic.lost(now, {errc::unavailable, "connection reset"});
  }
  for (auto const& p : processes) {
    if (!is_running(*p)) continue;
    if (auto const next = p->logic.next_deadline(); next && *next <= now) p->logic.advance(now);
    take_from(*p);
  }
}

void world::run_relays() {
  for (auto const& relay : relays) {
    if (!is_running(relay->body())) continue;
    relay->step();
    take_from(relay->body());
    if (!relay->body().logic.over()) continue;
    if (on_relay_end) on_relay_end(*relay);
    relay->die();
  }
}

// Delivers the agent's output to the network and its process until there is no more.
void world::take_from(process& p) {
  std::string bytes;
  std::vector<agent_command> commands;
  for (;;) {
    p.settle(now);
    p.logic.take_bytes(bytes);
    p.logic.take_commands(commands);
    if (p.relay) p.relay->take_output(bytes);
    if (bytes.empty() && commands.empty()) return;
    if (p.line && !bytes.empty()) p.line->up.send(now, random, p.line->delay_max, bytes);
    for (agent_command const c : commands) {
      if (c.opens()) {
        open_link(p, c.address);
      } else {
        close_at_client(p, c.address);
      }
    }
  }
}

void world::run_plans() {
  while (!plans_.empty() && plans_.begin()->first <= now) {
    auto const what = std::move(plans_.begin()->second);
    plans_.erase(plans_.begin());
    what();
  }
}

time_point world::next_event() const {
  time_point next = plans_.empty() ? time_point::max() : plans_.begin()->first;
  for (auto const& [line, p] : links_) {
    if (line->waits_to_be_accepted) next = std::min(next, std::max(now, stalled_until_));
    if (line->server_knows) next = std::min(next, std::max(next_read(*line), stalled_until_));
    if (line->server_knows && line->unread_until != time_point{}) {
      next = std::min(next, std::max({now, line->unread_until, stalled_until_}));
    }
    if (p->alive) next = std::min(next, std::max(line->down.next(), p->paused_until));
  }
  if (auto const due = coordinator.next_deadline()) {
    next = std::min(next, std::max(*due, stalled_until_));
  }
  if (synchronized_at_) next = std::min(next, std::max(*synchronized_at_, stalled_until_));
  for (auto const& relay : relays) next = std::min(next, relay->next_event());
  for (auto const& p : processes) {
    auto const due = p->logic.next_deadline();
    if (p->alive && due) next = std::min(next, std::max(*due, p->paused_until));
  }
  return next;
}

bool world::step(time_point limit) {
  run_plans();
  deliver_to_processes();
  run_relays();
  deliver_to_coordinator();
  std::erase_if(links_, [](auto const& l) {
    return !l.first->server_knows && !l.first->waits_to_be_accepted && !l.first->relay_knows &&
           l.first->down.next() == time_point::max();
  });
  time_point const next = next_event();
  if (next > limit) return false;
  now = std::max(now, next);
  return true;
}

void world::run(duration limit, std::function<bool()> const& is_done) {
  time_point const end = now + limit;
  while (!is_done() && step(end)) {
  }
}

void world::run(duration limit) {
  auto const all_done = [this] {
    return std::all_of(processes.begin(), processes.end(), [](auto const& p) {
      return !p->alive ||
             std::all_of(p->work.begin(), p->work.end(), [](script const& s) { return s.done(); });
    });
  };
  run(limit, all_done);
}

void world::pass(duration time) {
  time_point const end = now + time;
  while (step(end)) {
  }
}

std::string world::fault_of_recording() const {
  std::string const recording = coordinator.recording();
  server::replay again{recording};
  std::vector<std::string> then_reported;
  std::vector<std::string> now_reported;
  duration last{};
  while (auto const record = again.step()) {
    last = record->at;
    if (!again.difference().empty()) return again.difference();
    if (record->kind == wire::record_kind::event) then_reported.emplace_back(record->content);
    for (auto const& e : again.events()) now_reported.push_back(e.text);
  }
  if (!again.is_whole()) return "the recording is not whole";
  if (again.compared().not_compared != 0) return "the replay sends more";
  auto const [now_at, then_at] = std::mismatch(now_reported.begin(), now_reported.end(),  //
                                               then_reported.begin(), then_reported.end());
  if (now_at != now_reported.end()) return "the replay reports something else: " + *now_at;
  if (then_at != then_reported.end()) return "the replay does not report: " + *then_at;
  if (again.look() != coordinator.look(started + last)) return "the replay ends otherwise";
  return {};
}

std::string world::fault_of_reloads(std::uint32_t reloads) const {
  std::string const recording = coordinator.recording();
  server::replay whole{recording};
  std::uint64_t records = 0;
  std::string reported;
  for (; whole.step(); ++records) {
    for (auto const& e : whole.events()) reported += e.text + '\n';
  }
  generator chance{records};
  std::set<std::uint64_t> reloaded_at;
  for (; reloads > 0; --reloads) reloaded_at.insert(between(chance, 0, records));
  server::replay again{recording};
  std::string reported_again;
  for (std::uint64_t i = 0; again.step(); ++i) {
    if (!again.difference().empty()) return "after a reload: " + again.difference();
    for (auto const& e : again.events()) reported_again += e.text + '\n';
    if (reloaded_at.contains(i)) again.reload();
  }
  if (reported_again != reported) return "a reloaded coordinator reports other events";
  if (again.digest() != whole.digest()) return "a reloaded coordinator ends in another state";
  return {};
}

void world::finish() {
  for (auto const& p : processes) {
    if (!p->alive || p->logic.over()) continue;
    p->paused_until = now;
    p->logic.bye(now, false);
    take_from(*p);
    p->alive = false;
  }
  stalled_until_ = now;
  time_point const end = now + 1h;
  while (coordinator.look(now).sessions != 0 && step(end)) {
  }
}

}  // namespace coxswain::sim
