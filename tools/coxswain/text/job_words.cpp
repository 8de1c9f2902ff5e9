#include "text/job_words.hpp"

#include "options/units.hpp"
#include "terminal/harmless_text.hpp"

#include "coxswain/base/error.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace coxswain::tools {
namespace {

constexpr std::array states{task_state::connected, task_state::joining, task_state::never_connected,
                            task_state::failed,    task_state::left,    task_state::returning};

// "03:11:50", by the coordinator's clock.
std::string clock_of(wall_time at) {
  constexpr std::size_t clock_begins = 11;
  constexpr std::size_t clock_bytes = 8;
  return rfc3339(at).substr(clock_begins, clock_bytes);
}

}  // namespace

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string local_time_text(std::chrono::system_clock::time_point at) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S%z}",
                     fmt::localtime(std::chrono::system_clock::to_time_t(at)));
}

std::string tally(std::vector<core::snapshot::task> const& tasks) {
  std::array<std::size_t, states.size()> counts{};
  std::size_t suspects{};
  for (auto const& t : tasks) {
    suspects += t.suspect ? 1 : 0;
    for (std::size_t i = 0; i < states.size(); ++i) counts[i] += t.state == states[i] ? 1 : 0;
  }
  std::string text;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (counts[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[i], name(states[i]));
  }
  if (suspects > 0) text += fmt::format(" ({} suspect)", suspects);
  return text;
}

std::string headline_line(core::job_state const& state) {
  return state.headline.empty() ? std::string{} : harmless_line(state.headline) + "\n";
}

std::string last_words(core::job_state const& state, std::string otherwise) {
  return state.what == core::job_state::kind::failed ? state.headline : otherwise;
}

core::job_state ended_state(core::job_state last, std::string_view goodbye) {
  using kind = core::job_state::kind;
  constexpr std::string_view before = "the coordinator is stopping: ";
  auto const at = goodbye.find(before);
  bool const is_known = last.what == kind::failed || last.what == kind::over;
  if (is_known || at == goodbye.npos) return last;
  std::string const reason{goodbye.substr(at + before.size())};
  if (reason.starts_with("Failed")) return {kind::failed, reason, {}, {}, 0};
  return {
      kind::stopped, (reason.starts_with("by ") ? "Stopped " : "Stopped: ") + reason, {}, {}, 0};
}

std::string who(std::optional<task_id> task) {
  return task ? fmt::format("task {}", task->value) : std::string{"the job"};
}

std::string barrier_name(core::snapshot::barrier const& b) {
  switch (b.what) {
    case core::snapshot::kind::join: return "(join)";
    case core::snapshot::kind::leave: return "(leave)";
    case core::snapshot::kind::count: return b.name + " (count)";
    case core::snapshot::kind::topology: return b.name + " (topology)";
    case core::snapshot::kind::tasks: break;
  }
  return b.name;
}

std::string missing_text(core::snapshot::barrier const& b) {
  if (b.what == core::snapshot::kind::count) {
    return counted(b.expected - b.arrived, "caller");
  }
  return b.missing_cut == 0 ? b.missing : fmt::format("{} and {} more", b.missing, b.missing_cut);
}

std::string what_text(core::why_answer::wait const& w) {
  using kind = core::why_answer::kind;
  switch (w.what) {
    case kind::barrier: return fmt::format("barrier '{}' round {}", w.name, w.missing->round.value);
    case kind::count_barrier: return fmt::format("count barrier '{}'", w.name);
    case kind::join: return "the join";
    case kind::leave: return "the shutdown barrier";
    case kind::topology: return fmt::format("topology exchange '{}'", w.name);
    case kind::alive: return "an alive query";
    case kind::preemption: return "an agreement on a step, before a preemption";
    case kind::get: return fmt::format("key '{}'", w.name);
    case kind::get_all: return fmt::format("key '{}' and possibly others", w.name);
    case kind::lock: return fmt::format("lock '{}'", w.name);
    case kind::pop: return fmt::format("an item of queue '{}'", w.name);
  }
  return "something unknown to this version of the program";
}

std::string ranges_text(std::string const& ranges, std::uint32_t cut) {
  return cut == 0 ? ranges : fmt::format("{} and {} more", ranges, cut);
}

std::string waiting_text(core::why_answer::wait const& w) {
  std::string text;
  if (!w.waiting.empty()) text = "tasks " + ranges_text(w.waiting, w.cut);
  if (w.others == 0) return text;
  return fmt::format("{}{}{} outside the job", text, text.empty() ? "" : " and ",
                     w.others == 1 ? "a caller" : fmt::format("{} callers", w.others),
                     w.others == 1 ? "is" : "are");
}

std::string missing_task_text(missing_task const& m) {
  auto text =
      fmt::format("task {}: {}{}", m.task.value, name(m.state), m.suspect ? ", suspect" : "");
  if (!m.label.empty()) text += ", " + m.label;
  if (m.last_heard) text += fmt::format(", heard {} ago", text_of(*m.last_heard));
  if (m.step) text += fmt::format(", at step {}", *m.step);
  if (!m.waits_for.empty()) text += ", waits for " + m.waits_for;
  if (m.answers) text += ", answers";
  if (m.unanswered) {
    text += fmt::format(", has not answered for {} (frozen, or its machine is gone)",
                        text_of(*m.unanswered));
  }
  if (m.last_call_at) {
    text += fmt::format(", last call: {} at {}", m.last_call, clock_of(*m.last_call_at));
  }
  return text;
}

}  // namespace coxswain::tools
