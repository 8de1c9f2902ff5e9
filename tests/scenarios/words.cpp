#include "tests/scenarios/words.hpp"

#include <array>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace coxswain::scenarios {
namespace {

std::string words(std::monostate) { return {}; }
std::string words(core::hello_answer const&) { return "hello"; }
std::string words(core::resume_answer const& a) {
  std::string text = "resumed; unknown:";
  for (request_id const id : a.unknown) text += " #" + std::to_string(id.value);
  return a.unknown.empty() ? "resumed" : text;
}
std::string words(core::epoch_answer const& e);
std::string words(core::join_answer const& a) {
  std::string const as = a.task ? " as task " + std::to_string(a.task->value) : "";
  if (a.epoch) return "joined " + words(*a.epoch);
  return (a.already_started ? "joined a running job" : "joined") + as;
}
std::string words(core::barrier_answer const& a) {
  std::string text = "round " + std::to_string(a.round.value);
  for (bytes const& b : a.data) text += " [" + std::string{b.view()} + "]";
  return text;
}
std::string words(barrier_failure const& f) {
  return "(round " + std::to_string(f.round.value) + ", " + std::to_string(f.arrived) + " of " +
         std::to_string(f.expected) + ", missing " + f.missing + ")";
}
std::string words(core::value_answer const& a) {
  std::string const taken =
      a.redeliveries ? ", redeliveries " + std::to_string(*a.redeliveries) : "";
  return "[" + std::string{a.value.view()} + "] version " + std::to_string(a.version) + taken;
}
std::string words(core::counter_answer const& a) { return std::to_string(a.value); }
std::string words(core::removed_answer const& a) { return "removed " + std::to_string(a.count); }
std::string words(core::listing_answer const& a) {
  std::string text = "lists";
  for (auto const& e : a.entries) text += " " + e.key + "=[" + std::string{e.value.view()} + "]";
  return text;
}
std::string words(core::stored_answer const& a) { return "version " + std::to_string(a.version); }
std::string words(core::count_answer const& a) { return std::to_string(a.count); }
std::string words(core::key_changes_answer const& a) {
  std::string text;
  for (auto const& c : a.changes) {
    text += c.key + (c.value ? "=[" + std::string{c.value->view()} + "] " : " removed ");
  }
  return text + "until version " + std::to_string(a.version);
}
std::string words(core::snapshot const&) { return "snapshot"; }
std::string words(core::goodbye const& g) {
  return "goodbye " + g.why.text() + (g.may_resume ? " (may resume)" : "");
}
std::string words(job_error const& e) {
  std::string text = "job error: ";
  if (e.cause.task) text += "task " + std::to_string(e.cause.task->value) + ": ";
  return text + e.cause.why.text() + "; " + std::to_string(e.later_count) + " later";
}
std::string words(core::barrier_progress const& p) {
  return "progress of #" + std::to_string(p.request.value) + ": " + std::to_string(p.arrived) +
         " of " + std::to_string(p.expected) + ", missing " + p.missing;
}
std::string words(core::waiting const& w) {
  return "#" + std::to_string(w.request.value) + " waits: " + w.text;
}
std::string words(core::epoch_answer const& e) {
  return "epoch " + std::to_string(e.number) + ": t" + std::to_string(e.rank.value) + " of " +
         std::to_string(e.size) + ", " + std::to_string(e.lost) + " lost, " +
         std::to_string(e.joined) + " joined";
}
std::string words(core::epoch_members_answer const& a) {
  std::string text = "members of epoch " + std::to_string(a.epoch) + ":";
  for (auto const& member : a.members) text += " " + member.name + (member.survivor ? "" : "(new)");
  return text;
}
std::string words(core::epoch_ends const& e) {
  return "epoch " + std::to_string(e.epoch) + " ends: " + e.text;
}
std::string words(core::probe const&) { return "to give a sign of life"; }
std::string words(core::freeze_request const& f) {
  return "to say where it is, for agreement " + std::to_string(f.agreement);
}
std::string words(core::sync_point const& p) {
  return "all stop at step " + std::to_string(p.step);
}
std::string words(core::alive_answer const& a) {
  std::string text = "alive:";
  for (auto const& task : a.tasks) {
    text += " t" + std::to_string(task.id.value) + "=" + std::to_string(task.self.value);
  }
  return text;
}
std::string words(core::tasks_answer const& a) {
  std::string text = "version " + std::to_string(a.version) + ":";
  for (auto const& task : a.tasks) {
    text += " t" + std::to_string(task.id.value) + " " +
            (task.suspect ? "suspect" : std::string{name(task.state)}) + ",";
  }
  text.pop_back();
  return text;
}
std::string words(core::events_answer const& a) {
  std::string text = "events through " + std::to_string(a.through) + ":";
  for (auto const& entry : a.entries) text += " [" + entry.what.text + "]";
  return text;
}
std::string words(core::why_answer const& a) {
  constexpr std::array kinds{"barrier",           "count barrier", "join",       "leave",
                             "topologies of",     "alive",         "preemption", "get of",
                             "get of all, first", "pop of",        "lock"};
  static_assert(kinds.size() == static_cast<std::size_t>(core::why_answer::last_kind) + 1);
  std::string text = a.stuck.empty() ? "no deadlock" : a.stuck;
  for (auto const& w : a.waits) {
    text += std::string{" | "} + kinds.at(static_cast<std::size_t>(w.what));
    if (!w.name.empty()) text += " " + w.name;
    text += ": " + (w.waiting.empty() ? "observers" : "t" + w.waiting) + (w.stuck ? " stuck" : "");
    if (!w.missing) continue;
    text += ", missing " + w.missing->missing;
    for (auto const& m : w.missing->known) {
      if (m.step) text += ", at step " + std::to_string(*m.step);
      if (!m.waits_for.empty()) text += ", which waits for " + m.waits_for;
    }
  }
  return text;
}
std::string words(core::global_topology const& t) {
  std::string text = "devices:";
  for (std::size_t i = 0; i < t.tasks.size(); ++i) {
    text += " t" + std::to_string(i) + " has";
    for (auto const& device : t.tasks[i].devices) {
      text += " " + std::to_string(device.global_id) + "/" + std::to_string(device.partition);
    }
    text += ",";
  }
  text.pop_back();
  return text;
}

}  // namespace

duration duration_of(std::string_view text) {
  if (text == "for-ever") return without_limit;
  std::size_t used = 0;
  double const count = std::stod(std::string{text}, &used);
  std::string_view const unit = text.substr(used);
  double const nanoseconds = unit == "ms"    ? 1e6
                             : unit == "s"   ? 1e9
                             : unit == "min" ? 60e9
                             : text == "0"   ? 0
                                             : throw std::runtime_error{"a duration has no unit"};
  return duration{std::llround(count * nanoseconds)};
}

std::optional<task_id> task_of(std::string_view name) {
  bool const is_task =
      name.size() > 1 && name[0] == 't' && name.find_first_not_of("0123456789", 1) == name.npos;
  if (!is_task) return std::nullopt;
  return task_id{static_cast<std::uint32_t>(std::stoul(std::string{name.substr(1)}))};
}

std::string in_words(duration d) {
  std::ostringstream out;
  out << std::chrono::duration<double>(d).count() << "s";
  return out.str();
}

std::string in_words(core::answer const& a) {
  std::string const value = std::visit([](auto const& v) { return words(v); }, a.value);
  if (a.outcome.ok() && !value.empty()) return "OK " + value;
  return a.outcome.text() + (value.empty() ? "" : " " + value);
}

}  // namespace coxswain::scenarios
