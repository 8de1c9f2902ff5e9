#include "text/task_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace coxswain::tools {
namespace {

constexpr std::size_t tasks_max = 1'000'000;

std::optional<std::uint32_t> parse_task(std::string_view text) {
  std::uint32_t task{};
  auto const* const end = text.data() + text.size();
  auto const [parsed, problem] = std::from_chars(text.data(), end, task);
  if (problem != std::errc{} || parsed != end) return std::nullopt;
  return task;
}

// Adds "7" or "2-5"; false if it is neither.
bool add_range(std::vector<task_id>& to, std::string_view text) {
  auto const dash = text.find('-');
  auto const first = parse_task(text.substr(0, dash));
  auto const last = dash == std::string_view::npos ? first : parse_task(text.substr(dash + 1));
  if (!first || !last || *last < *first || *last - *first >= tasks_max - to.size()) return false;
  for (std::uint64_t task = *first; task <= *last; ++task) {
    to.push_back(task_id{static_cast<std::uint32_t>(task)});
  }
  return true;
}

}  // namespace

std::optional<std::vector<task_id>> parse_tasks(std::string_view text) {
  std::vector<task_id> tasks;
  for (;;) {
    auto const end = std::min(text.find(','), text.size());
    if (!add_range(tasks, text.substr(0, end))) return std::nullopt;
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  return tasks;
}

std::string ranges_of(std::vector<task_id> const& tasks) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < tasks.size(); begin = end) {
    for (end = begin + 1; end < tasks.size() && tasks[end].value == tasks[end - 1].value + 1; ++end)
      continue;
    text += fmt::format("{}{}", text.empty() ? "" : ",", tasks[begin].value);
    if (end - begin > 1) text += fmt::format("-{}", tasks[end - 1].value);
  }
  return text;
}

}  // namespace coxswain::tools
