#include "coxswain/status/json.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/records.hpp"
#include "coxswain/core/observe/headline.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <string>
#include <utility>

namespace coxswain::status_page {
namespace {

constexpr std::array<std::string_view, 3> severities{"info", "warning", "error"};
constexpr std::array<std::string_view, 25> kinds{
    "other",      "joined",      "left",         "failed",
    "suspect",    "back",        "round_failed", "job_failed",
    "waiting",    "refused",     "stalled",      "stopping",
    "stuck",      "no_progress", "joining",      "credentials_replaced",
    "challenged", "ended",       "reset",        "preemption",
    "topology",   "unstuck",     "restarted",    "ended_with_job",
    "draining"};

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

template <class T>
json::object members_of(T const& what);

// Lists are left out, and so is what has a form of its own here.
template <class T>
void add_member(json::object& to, std::string name, T const& what) {
  if (name.ends_with("_us")) name.replace(name.size() - 2, 2, "ms");
  if constexpr (std::same_as<T, std::string> || std::integral<T>) {
    to[name] = what;
  } else if constexpr (std::convertible_to<T, std::optional<duration>>) {
    to[name] = milliseconds_of(what);
  } else if constexpr (std::same_as<T, errc> || std::same_as<T, task_state>) {
    to[name] = coxswain::name(what);
  } else if constexpr (requires { name_of(what); }) {
    to[name] = name_of(what);
  } else if constexpr (requires { what.has_value(); }) {
    to[name] = nullptr;
    if (what) add_member(to, name, *what);
  } else if constexpr (std::same_as<T, round_number> || std::same_as<T, task_id>) {
    to[name] = what.value;
  } else if constexpr (core::described<T> && !std::same_as<T, coxswain::status>) {
    to[name] = members_of(what);
  }
}

// Named as in the messages, with durations in milliseconds.
template <class T>
json::object members_of(T const& what) {
  json::object all;
  core::record_of<T>.for_each(
      [&](auto const& row) { add_member(all, std::string{row.name}, row.of(what)); });
  return all;
}

using stacks_group = core::stacks_answer::group;

// Null: it is not known, or not yet.
json::value answering(missing_task const& m) {
  if (m.answers) return true;
  return m.unanswered ? json::value(false) : json::value();
}

json::value object_of(missing_task const& m) {
  json::value step;
  if (m.step) step = *m.step;
  return json::object{
      {"task", m.task.value},
      {"state", name(m.state)},
      {"suspect", m.suspect},
      {"last_heard_ms", milliseconds_of(m.last_heard)},
      {"process", m.label},
      {"waits_for", m.waits_for},
      {"step", step},
      {"answers", answering(m)},
      {"unanswered_ms", milliseconds_of(m.unanswered)},
      {"last_call", m.last_call.empty() ? json::value() : json::value(m.last_call)},
      {"last_call_at", m.last_call_at ? json::value(rfc3339(*m.last_call_at)) : json::value()},
  };
}

json::value object_of(stacks_group const& g) {
  return json::object{{"tasks", g.tasks},       {"tasks_cut", g.tasks_cut},
                      {"count", g.count},       {"missing_for_ms", milliseconds_of(g.missing_for)},
                      {"is_taken", g.is_taken}, {"stack", g.stack},
                      {"rest", g.rest}};
}

json::value object_of(core::why_answer::wait const& w) {
  json::object made{
      {"kind", status_page::name_of(w.what)},
      {"name", w.name},
      {"stuck", w.stuck},
      {"waiting", w.waiting},
      {"waiting_cut", w.cut},
      {"others", w.others},
      {"age_ms", milliseconds_of(w.age)},
      {"remaining_ms", milliseconds_of(w.remaining)},
  };
  if (!w.missing) return made;
  json::array known;
  for (auto const& m : w.missing->known) known.push_back(object_of(m));
  made["round"] = w.missing->round.value;
  made["arrived"] = w.missing->arrived;
  made["expected"] = w.missing->expected;
  made["missing"] = w.missing->missing;
  made["missing_cut"] = w.missing->missing_cut;
  made["known"] = std::move(known);
  return made;
}

// Not `tasks`, which are those of the job.
void add_state(json::object& to, core::job_state const& state) {
  to["headline"] = state.headline;
  to["state"] = status_page::name_of(state.what);
  to["since"] = state.since ? json::value(rfc3339(*state.since)) : json::value();
  to["state_tasks"] = state.tasks;
  to["state_tasks_cut"] = state.tasks_cut;
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

std::string_view name_of(core::job_state::kind kind) {
  constexpr std::array<std::string_view, 11> names{
      "unknown",     "running", "slow",    "waiting", "deadlock", "gathering",
      "not_started", "failed",  "stopped", "over",    "draining"};
  return names.at(static_cast<std::size_t>(kind));
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
      {"ended_with_job", t.ended_with_job},
      {"recoverable", t.recoverable},
      {"returns_by", t.returns_by ? json::value(rfc3339(*t.returns_by)) : json::value()},
      {"step", step},
      {"step_age_ms", milliseconds_of(age)},
      {"no_progress", t.progress && t.progress->overdue},
  };
}

json::value object_of(core::snapshot::barrier const& b) {
  auto all = members_of(b);
  all["missing_after_ms"] = milliseconds_of(core::missing_after(b.arrived, b.expected));
  return all;
}
json::value object_of(core::snapshot::finished_round const& r) { return members_of(r); }
json::value object_of(core::snapshot::spare const& s) { return members_of(s); }
json::value object_of(core::snapshot::relay const& r) { return members_of(r); }
json::value object_of(core::snapshot::lease const& l) { return members_of(l); }

json::value object_of(core::snapshot::straggler const& s) {
  return json::object{
      {"task", s.task.value},
      {"times_last", s.times_last},
      {"lag_ms_mean", milliseconds_of(s.lag_mean)},
      {"lag_ms_max", milliseconds_of(s.lag_max)},
      {"of", s.of},
  };
}

json::value object_of(core::why_answer const& answer) {
  json::array waits;
  for (auto const& w : answer.waits) waits.push_back(object_of(w));
  json::value stuck;
  if (!answer.stuck.empty()) stuck = answer.stuck;
  json::object all;
  add_state(all, answer.state);
  all["stuck"] = std::move(stuck);
  all["waits"] = std::move(waits);
  all["more"] = answer.more;
  return all;
}

json::object object_of(core::stacks_answer const& answer) {
  json::array groups;
  for (auto const& group : answer.groups) groups.push_back(object_of(group));
  return json::object{{"number", answer.number},
                      {"complete", answer.complete},
                      {"age_ms", milliseconds_of(answer.age)},
                      {"wanted", answer.wanted},
                      {"more", answer.more},
                      {"groups", std::move(groups)}};
}

json::object object_of(core::event const& e) {
  json::object made{
      {"kind", name_of(e.kind)}, {"task", nullptr}, {"barrier", nullptr}, {"text", e.text}};
  if (e.task) made["task"] = e.task->value;
  if (!e.barrier.empty()) made["barrier"] = e.barrier;
  return made;
}

json::value object_of(core::events_answer::entry const& e) {
  auto const milliseconds = [](duration d) {
    return std::chrono::floor<std::chrono::milliseconds>(d).count();
  };
  json::object made{{"number", e.number},
                    {"time", rfc3339(e.time)},
                    {"at_ms", milliseconds(e.at)},
                    {"severity", name_of(e.what.level)}};
  for (auto& member : object_of(e.what)) made.insert(member);
  made["tasks"] = nullptr;
  if (e.what.task) made["tasks"] = std::to_string(e.what.task->value);
  if (!e.tasks.empty()) made["tasks"] = e.tasks;
  made["tasks_cut"] = e.tasks_cut;
  made["count"] = e.count;
  made["first"] = e.first;
  made["first_at_ms"] = milliseconds(e.first_at);
  return made;
}

json::object summary_of(core::snapshot const& picture) {
  json::value why_failed;
  if (picture.error) why_failed = object_of(*picture.error);
  json::object all{{"num_tasks", picture.tasks.size()},
                   {"coordinator", hexadecimal(picture.coordinator)},
                   {"error", why_failed},
                   {"leases", array_of(picture.leases)},
                   {"relays_more", picture.more_relays}};
  add_state(all, picture.state);
  for (auto& [name, value] : members_of(picture)) {
    bool const is_left_out = value.is_null() || name == "error" || name == "next_task" ||
                             name == "job_state" || name == "more_barriers" ||
                             name == "more_relays";
    if (!is_left_out) all.emplace(name, std::move(value));
  }
  return all;
}

json::object state_of(core::snapshot const& picture) {
  auto all = summary_of(picture);
  all["tasks"] = array_of(picture.tasks);
  all["barriers"] = array_of(picture.barriers);
  all["barriers_more"] = picture.more_barriers;
  json::array missing;
  for (auto const& m : picture.missing) missing.push_back(object_of(m));
  all["missing"] = std::move(missing);
  all["rounds"] = array_of(picture.rounds);
  all["stragglers"] = array_of(picture.stragglers);
  all["spares"] = array_of(picture.spares);
  all["relays"] = array_of(picture.relays);
  return all;
}

std::string status_json(core::snapshot const& picture) { return serialized(state_of(picture)); }

std::string why_json(core::why_answer const& answer, core::stacks_answer const* stacks) {
  auto all = object_of(answer);
  if (stacks != nullptr) all.as_object()["stacks"] = object_of(*stacks);
  return serialized(all);
}

std::string event_json(core::events_answer::entry const& e) { return serialized(object_of(e)); }

}  // namespace coxswain::status_page
