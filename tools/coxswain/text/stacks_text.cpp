#include "text/stacks_text.hpp"

#include "options/units.hpp"
#include "terminal/harmless_text.hpp"
#include "text/job_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace coxswain::tools {
namespace {

std::string indented(std::string_view text, std::string_view by) {
  std::string made;
  while (!text.empty()) {
    auto const line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    made.append(by).append(harmless_line(line)).append("\n");
  }
  return made;
}

std::string group_text(core::stacks_answer::group const& g) {
  auto const who = fmt::format("{}, {}", counted(g.count, "task"),
                               ranges_text(harmless_line(g.tasks), g.tasks_cut));
  auto const since = fmt::format("missing for {}", text_of(g.missing_for));
  if (!g.is_taken) return fmt::format("\n{}, {}: {}\n", who, since, harmless_line(g.stack));
  auto const first = std::string_view{g.stack}.substr(0, g.stack.find('\n'));
  auto text = fmt::format("\n{}, {}, in {}\n", who, since, harmless_line(first));
  text += indented(g.stack, "  ");
  if (!g.rest.empty()) text += "  --\n" + indented(g.rest, "  ");
  return text;
}

}  // namespace

std::string stacks_text(core::stacks_answer const& answer) {
  if (answer.wanted == 0) {
    return "\nno stacks: no task without a waiting call has held up others for 10 s\n";
  }
  auto text = fmt::format("\nstacks of {}", counted(answer.wanted, "task"));
  if (answer.more > 0) text += fmt::format(", {} more were not asked", answer.more);
  text += fmt::format(", taken {} ago\n", text_of(answer.age));
  for (auto const& group : answer.groups) text += group_text(group);
  return text;
}

}  // namespace coxswain::tools
