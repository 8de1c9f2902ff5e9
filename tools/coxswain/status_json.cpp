#include "json.hpp"
#include "status_text.hpp"

#include "coxswain/base/error.hpp"

#include <fmt/format.h>

#include <optional>

namespace coxswain::tools {
namespace {

// Boost.JSON takes values in braces for arrays: hence none around a single one here.

// Zero is none.
json::value hexadecimal(incarnation i) {
  if (i.value == 0) return nullptr;
  return json::string(fmt::format("{:016x}", i.value));
}

json::value object_of(status const& s) {
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
  return json::object{{"cause", object_of(error.cause)}, {"later", std::move(later)}};
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
      {"step", step},
      {"step_age_ms", milliseconds_of(age)},
  };
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

}  // namespace

std::string status_json(core::snapshot const& picture) {
  json::array tasks;
  for (auto const& t : picture.tasks) tasks.push_back(object_of(t));
  json::array barriers;
  for (auto const& b : picture.barriers) barriers.push_back(object_of(b));
  json::value why_failed;
  if (picture.error) why_failed = object_of(*picture.error);
  json::object const all{
      {"job", picture.job},
      {"num_tasks", picture.tasks.size()},
      {"coordinator", hexadecimal(picture.coordinator)},
      {"version", picture.version},
      {"uptime_ms", milliseconds_of(picture.uptime)},
      {"error", why_failed},
      {"tasks", std::move(tasks)},
      {"barriers", std::move(barriers)},
      {"keys", picture.keys},
      {"key_bytes", picture.key_bytes},
      {"sessions", picture.sessions},
      {"waiting_gets", picture.waiting_gets},
      {"queued_items", picture.queued_items},
      {"waiting_pops", picture.waiting_pops},
      {"waiting_key_watches", picture.waiting_key_watches},
      {"memory_bytes", picture.memory_bytes},
      {"memory_bytes_max", picture.memory_bytes_max},
      {"deadlines_answered", picture.deadlines_answered},
      {"lateness_p99_ms", milliseconds_of(picture.lateness_p99)},
      {"lateness_max_ms", milliseconds_of(picture.lateness_max)},
  };
  return json::serialize(all);
}

}  // namespace coxswain::tools
