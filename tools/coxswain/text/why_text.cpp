#include "text/why_text.hpp"

#include "options/units.hpp"
#include "terminal/harmless_text.hpp"
#include "text/job_words.hpp"

#include <fmt/format.h>

namespace coxswain::tools {
namespace {

using wait = core::why_answer::wait;

std::string missing_text(barrier_failure const& f) {
  auto const count = f.expected - f.arrived;
  if (f.missing.empty()) return fmt::format("  missing: {} of {}\n", count, f.expected);
  auto text = fmt::format("  missing: {} of {}: {}\n", count, f.expected,
                          ranges_text(f.missing, f.missing_cut));
  for (auto const& m : f.known) text += "    " + harmless_line(missing_task_text(m)) + "\n";
  return text;
}

// Who has what a wait is for.
std::string holder_text(wait const& w) {
  auto const holder = harmless_line(w.missing->missing);
  if (w.what == core::why_answer::kind::lock) return fmt::format("  held by: {}\n", holder);
  auto const count = w.missing->expected;
  return fmt::format("  leased: {}{} to {}\n", count, count == 1 ? "," : ", the first", holder);
}

std::string wait_text(wait const& w) {
  auto text = fmt::format("{}{}\n  waiting: {}, for {}, {}\n", harmless_line(what_text(w)),
                          w.stuck ? ": STUCK" : "", waiting_text(w), text_of(w.age),
                          w.remaining ? "times out in " + text_of(*w.remaining) : "without limit");
  if (!w.missing) return text;
  bool const is_held =
      w.what == core::why_answer::kind::lock || w.what == core::why_answer::kind::pop;
  return text + (is_held ? holder_text(w) : missing_text(*w.missing));
}

}  // namespace

std::string why_text(core::why_answer const& answer) {
  auto text = headline_line(answer.state);
  if (answer.waits.empty()) return text + "no call is waiting\n";
  if (answer.stuck.empty()) text += "no deadlock\n";
  bool const is_said = answer.state.what == core::job_state::kind::deadlock;
  if (!answer.stuck.empty() && !is_said) text += harmless_line(answer.stuck) + "\n";
  for (auto const& w : answer.waits) text += "\n" + wait_text(w);
  if (answer.more > 0) text += fmt::format("\nand {} more\n", answer.more);
  return text;
}

}  // namespace coxswain::tools
