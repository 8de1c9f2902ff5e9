#include "why_text.hpp"

#include "units.hpp"

#include "coxswain/base/error.hpp"

#include <fmt/format.h>

namespace coxswain::tools {
namespace {

using wait = core::why_answer::wait;
using kind = core::why_answer::kind;

std::string what_text(wait const& w) {
  switch (w.what) {
    case kind::barrier: return fmt::format("barrier '{}' round {}", w.name, w.missing->round.value);
    case kind::count_barrier: return fmt::format("count barrier '{}'", w.name);
    case kind::join: return "the join";
    case kind::leave: return "the shutdown barrier";
    case kind::topology: return fmt::format("exchange of topologies '{}'", w.name);
    case kind::alive: return "an alive query";
    case kind::preemption: return "an agreement on a step, before a preemption";
    case kind::get: return fmt::format("key '{}'", w.name);
    case kind::get_all: return fmt::format("key '{}' and perhaps others with it", w.name);
    case kind::pop: return fmt::format("an item of queue '{}'", w.name);
  }
  return "something that this program does not know";
}

std::string ranges_text(std::string const& ranges, std::uint32_t cut) {
  return cut == 0 ? ranges : fmt::format("{} and {} more", ranges, cut);
}

std::string waiting_text(wait const& w) {
  std::string text;
  if (!w.waiting.empty()) text = "tasks " + ranges_text(w.waiting, w.cut);
  if (w.others == 0) return text;
  return fmt::format("{}{}{} that {} no task", text, text.empty() ? "" : " and ",
                     w.others == 1 ? "a caller" : fmt::format("{} callers", w.others),
                     w.others == 1 ? "is" : "are");
}

std::string known_text(missing_task const& m) {
  auto text =
      fmt::format("    task {}: {}{}", m.task.value, name(m.state), m.suspect ? ", suspect" : "");
  if (!m.label.empty()) text += ", " + m.label;
  if (m.last_heard) text += fmt::format(", heard {} ago", text_of(*m.last_heard));
  if (m.step) text += fmt::format(", at step {}", *m.step);
  if (!m.waits_for.empty()) text += ", waits for " + m.waits_for;
  return text + "\n";
}

std::string missing_text(barrier_failure const& f) {
  auto const count = f.expected - f.arrived;
  if (f.missing.empty()) return fmt::format("  missing: {} of {}\n", count, f.expected);
  auto text = fmt::format("  missing: {} of {}: {}\n", count, f.expected,
                          ranges_text(f.missing, f.missing_cut));
  for (auto const& m : f.known) text += known_text(m);
  return text;
}

std::string wait_text(wait const& w) {
  auto text = fmt::format("{}{}\n  waiting: {}, for {}, {}\n", what_text(w),
                          w.stuck ? ": STUCK" : "", waiting_text(w), text_of(w.age),
                          w.remaining ? "ends in " + text_of(*w.remaining) : "without limit");
  return w.missing ? text + missing_text(*w.missing) : text;
}

}  // namespace

std::string why_text(core::why_answer const& answer) {
  if (answer.waits.empty()) return "nobody waits for anything\n";
  auto text = answer.stuck.empty() ? std::string{"nobody is stuck\n"}
                                   : fmt::format("STUCK: {}\n", answer.stuck);
  for (auto const& w : answer.waits) text += "\n" + wait_text(w);
  if (answer.more > 0) text += fmt::format("\nand {} more\n", answer.more);
  return text;
}

}  // namespace coxswain::tools
