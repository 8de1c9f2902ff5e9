#include "coxswain/status/json.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

namespace coxswain::status_page {
namespace {

constexpr std::array<std::string_view, 3> severities{"info", "warning", "error"};
constexpr std::array<std::string_view, 23> kinds{
    "other",      "joined",      "left",         "failed",
    "suspect",    "back",        "round_failed", "job_failed",
    "waiting",    "refused",     "stalled",      "stopping",
    "stuck",      "no_progress", "joining",      "credentials_replaced",
    "challenged", "ended",       "reset",        "preemption",
    "topology",   "unstuck",     "restarted"};

// Boost.JSON takes values in braces for arrays: hence none around a single one here.

// Zero means none.
json::value hexadecimal(incarnation i) {
  if (i.value == 0) return nullptr;
  std::array<char, 8> bytes{};
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    bytes[n] = static_cast<char>(i.value >> (56 - 8 * n));
  }
  return json::string(core::hexadecimal({bytes.data(), bytes.size()}));
}

json::value object_of(coxswain::status const& s) {
  if (s.ok()) return nullptr;
  return json::object{{"code", name(s.code())}, {"message", s.message()}};
}

json::value object_of(failure const& f) {
  json::value task;
  if (f.task) task = f.task->value;
  return json::object{{"task", task}, {"code", name(f.why.code())}, {"message", f.why.message()}};
}

json::value object_of(job_error const& error) {
  json::array later;
  for (auto const& f : error.later) later.push_back(object_of(f));
  return json::object{{"cause", object_of(error.cause)},
                      {"later", std::move(later)},
                      {"later_count", error.later_count}};
}

json::value object_of(missing_task const& m) {
  json::value step;
  if (m.step) step = *m.step;
  return json::object{
      {"task", m.task.value}, {"state", name(m.state)},
      {"suspect", m.suspect}, {"last_heard_ms", milliseconds_of(m.last_heard)},
      {"process", m.label},   {"waits_for", m.waits_for},
      {"step", step},
  };
}

json::value object_of(core::why_answer::wait const& w) {
  json::object one{
      {"kind", status_page::name_of(w.what)},
      {"name", w.name},
      {"stuck", w.stuck},
      {"waiting", w.waiting},
      {"waiting_cut", w.cut},
      {"others", w.others},
      {"age_ms", milliseconds_of(w.age)},
      {"remaining_ms", milliseconds_of(w.remaining)},
  };
  if (!w.missing) return one;
  json::array known;
  for (auto const& m : w.missing->known) known.push_back(object_of(m));
  one["round"] = w.missing->round.value;
  one["arrived"] = w.missing->arrived;
  one["expected"] = w.missing->expected;
  one["missing"] = w.missing->missing;
  one["missing_cut"] = w.missing->missing_cut;
  one["known"] = std::move(known);
  return one;
}

}  // namespace

json::value milliseconds_of(std::optional<duration> d) {
  if (!d) return nullptr;
  return static_cast<double>(d->count() / 1000) / 1000.0;
}

void add_bytes(json::object& to, std::string const& name, std::string_view bytes) {
  to[name] = nullptr;
  if (core::is_utf8(bytes)) {
    to[name] = bytes;
  } else {
    to[name + "_hex"] = core::hexadecimal(bytes);
  }
}

std::string_view name_of(core::severity level) {
  return severities[static_cast<std::size_t>(level)];
}

std::string_view name_of(core::event_kind kind) { return kinds[static_cast<std::size_t>(kind)]; }

std::optional<core::severity> severity_named(std::string_view text) {
  auto const* const at = std::find(severities.begin(), severities.end(), text);
  if (at == severities.end()) return std::nullopt;
  return static_cast<core::severity>(at - severities.begin());
}

std::string_view name_of(core::snapshot::kind kind) {
  switch (kind) {
    case core::snapshot::kind::tasks: return "tasks";
    case core::snapshot::kind::count: return "count";
    case core::snapshot::kind::join: return "join";
    case core::snapshot::kind::leave: return "leave";
    case core::snapshot::kind::topology: return "topology";
  }
  return "unknown";
}

std::string_view name_of(core::why_answer::kind kind) {
  switch (kind) {
    case core::why_answer::kind::barrier: return "barrier";
    case core::why_answer::kind::count_barrier: return "count_barrier";
    case core::why_answer::kind::join: return "join";
    case core::why_answer::kind::leave: return "leave";
    case core::why_answer::kind::topology: return "topology";
    case core::why_answer::kind::alive: return "alive";
    case core::why_answer::kind::preemption: return "preemption";
    case core::why_answer::kind::get: return "get";
    case core::why_answer::kind::get_all: return "get_all";
    case core::why_answer::kind::pop: return "pop";
    case core::why_answer::kind::lock: return "lock";
  }
  return "unknown";
}

json::value object_of(core::snapshot::task const& t) {
  json::value step;
  std::optional<duration> age;
  if (t.progress) {
    step = t.progress->step;
    age = t.progress->age;
  }
  return json::object{
      {"task", t.id.value},
      {"state", name(t.state)},
      {"suspect", t.suspect},
      {"incarnation", hexadecimal(t.self)},
      {"last_heard_ms", milliseconds_of(t.last_heard)},
      {"process", t.label},
      {"peer", t.peer},
      {"error", object_of(t.error)},
      {"recoverable", t.recoverable},
      {"returns_by", t.returns_by ? json::value(rfc3339(*t.returns_by)) : json::value()},
      {"step", step},
      {"step_age_ms", milliseconds_of(age)},
      {"no_progress", t.progress && t.progress->overdue},
  };
}

json::value object_of(core::snapshot::barrier const& b) {
  return json::object{
      {"name", b.name},
      {"kind", name_of(b.what)},
      {"round", b.round.value},
      {"arrived", b.arrived},
      {"expected", b.expected},
      {"missing", b.missing},
      {"missing_cut", b.missing_cut},
      {"age_ms", milliseconds_of(b.age)},
      {"remaining_ms", milliseconds_of(b.remaining)},
  };
}

json::value object_of(core::snapshot::finished_round const& r) {
  json::value last;
  if (r.last_task) last = r.last_task->value;
  return json::object{
      {"number", r.number},
      {"name", r.name},
      {"round", r.round.value},
      {"at_ms", milliseconds_of(r.at)},
      {"tasks", r.tasks},
      {"outcome", name(r.outcome)},
      {"spread_ms", milliseconds_of(r.spread)},
      {"lag_ms", milliseconds_of(r.lag)},
      {"last_task", last},
  };
}

json::value object_of(core::snapshot::straggler const& s) {
  return json::object{
      {"task", s.task.value},
      {"times_last", s.times_last},
      {"lag_ms_mean", milliseconds_of(s.lag_mean)},
      {"lag_ms_max", milliseconds_of(s.lag_max)},
      {"of", s.of},
  };
}

json::value object_of(core::snapshot::spare const& s) {
  return json::object{
      {"member", s.member},   {"label", s.label},
      {"peer", s.peer},       {"age_ms", milliseconds_of(s.age)},
      {"suspect", s.suspect},
  };
}

json::value object_of(core::snapshot::relay const& r) {
  return json::object{
      {"label", r.label},
      {"peer", r.peer},
      {"clients", r.clients},
      {"clients_paused", r.clients_paused},
      {"at_ms", milliseconds_of(r.at)},
  };
}

json::value object_of(core::snapshot::lease const& l) {
  return json::object{
      {"queue", l.queue},
      {"item", l.item},
      {"redeliveries", l.redeliveries},
      {"holder", l.holder},
      {"at_ms", milliseconds_of(l.at)},
      {"expires_ms", milliseconds_of(l.expires)},
  };
}

json::value object_of(core::why_answer const& answer) {
  json::array waits;
  for (auto const& w : answer.waits) waits.push_back(object_of(w));
  json::value stuck;
  if (!answer.stuck.empty()) stuck = answer.stuck;
  return json::object{
      {"stuck", std::move(stuck)}, {"waits", std::move(waits)}, {"more", answer.more}};
}

json::object object_of(core::event const& e) {
  json::object one{
      {"kind", name_of(e.kind)}, {"task", nullptr}, {"barrier", nullptr}, {"text", e.text}};
  if (e.task) one["task"] = e.task->value;
  if (!e.barrier.empty()) one["barrier"] = e.barrier;
  return one;
}

json::value object_of(core::events_answer::entry const& e) {
  auto const milliseconds = [](duration d) {
    return std::chrono::floor<std::chrono::milliseconds>(d).count();
  };
  json::object one{{"number", e.number},
                   {"time", rfc3339(e.time)},
                   {"at_ms", milliseconds(e.at)},
                   {"severity", name_of(e.what.level)}};
  for (auto& member : object_of(e.what)) one.insert(member);
  one["tasks"] = nullptr;
  if (e.what.task) one["tasks"] = std::to_string(e.what.task->value);
  if (!e.tasks.empty()) one["tasks"] = e.tasks;
  one["tasks_cut"] = e.tasks_cut;
  one["count"] = e.count;
  one["first"] = e.first;
  one["first_at_ms"] = milliseconds(e.first_at);
  return one;
}

json::object summary_of(core::snapshot const& picture) {
  json::value why_failed;
  if (picture.error) why_failed = object_of(*picture.error);
  json::object all{
      {"job", picture.job},
      {"num_tasks", picture.tasks.size()},
      {"coordinator", hexadecimal(picture.coordinator)},
      {"version", picture.version},
      {"uptime_ms", milliseconds_of(picture.uptime)},
      {"error", why_failed},
      {"keys", picture.keys},
      {"key_bytes", picture.key_bytes},
      {"sessions", picture.sessions},
      {"waiting_gets", picture.waiting_gets},
      {"queued_items", picture.queued_items},
      {"waiting_pops", picture.waiting_pops},
      {"waiting_key_watches", picture.waiting_key_watches},
      {"leased_items", picture.leased_items},
      {"leases", array_of(picture.leases)},
      {"locks_held", picture.locks_held},
      {"waiting_locks", picture.waiting_locks},
      {"spares_waiting", picture.spares_waiting},
      {"relays_more", picture.more_relays},
      {"stuck_tasks", picture.stuck_tasks},
      {"memory_bytes", picture.memory_bytes},
      {"memory_bytes_max", picture.memory_bytes_max},
      {"deadlines_answered", picture.deadlines_answered},
      {"lateness_p99_ms", milliseconds_of(picture.lateness_p99)},
      {"lateness_max_ms", milliseconds_of(picture.lateness_max)},
  };
  if (picture.leader) {
    all["leader"] = {{"address", picture.leader->address},
                     {"term", picture.leader->term},
                     {"lag_entries", picture.leader->lag_entries},
                     {"lag_bytes", picture.leader->lag_bytes},
                     {"lag_ms", milliseconds_of(picture.leader->lag)}};
  }
  if (picture.elastic) {
    auto const& e = *picture.elastic;
    all["elastic"] = {{"epoch", e.epoch},         {"tasks_min", e.tasks_min},
                      {"tasks_max", e.tasks_max}, {"tasks_wanted", e.tasks_wanted},
                      {"ending", e.ending},       {"over", e.over},
                      {"ready", e.ready},         {"age_ms", milliseconds_of(e.age)}};
  }
  return all;
}

json::object state_of(core::snapshot const& picture) {
  auto all = summary_of(picture);
  all["tasks"] = array_of(picture.tasks);
  all["barriers"] = array_of(picture.barriers);
  all["barriers_more"] = picture.more_barriers;
  all["rounds"] = array_of(picture.rounds);
  all["stragglers"] = array_of(picture.stragglers);
  all["spares"] = array_of(picture.spares);
  all["relays"] = array_of(picture.relays);
  return all;
}

std::string status_json(core::snapshot const& picture) { return serialized(state_of(picture)); }

std::string why_json(core::why_answer const& answer) { return serialized(object_of(answer)); }

std::string event_json(core::events_answer::entry const& e) { return serialized(object_of(e)); }

}  // namespace coxswain::status_page
