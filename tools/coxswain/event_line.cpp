#include "event_line.hpp"

#include "json.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace coxswain::tools {
namespace {

constexpr std::array<std::string_view, 3> severities{"info", "warning", "error"};
constexpr std::array<std::string_view, 14> kinds{
    "other",      "joined",  "left",    "failed",  "suspect",  "back",  "round_failed",
    "job_failed", "waiting", "refused", "stalled", "stopping", "stuck", "no_progress"};

std::string_view text_of(core::severity level) {
  return severities[static_cast<std::size_t>(level)];
}

std::int64_t milliseconds(duration time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).count();
}

}  // namespace

core::severity severity_of(std::string_view text) {
  std::size_t i = 0;
  while (i + 1 < severities.size() && severities[i] != text) ++i;
  return static_cast<core::severity>(i);
}

std::string event_text(core::events_answer::entry const& e) {
  auto const at = milliseconds(e.at);
  return fmt::format("{:>6}.{:03} {:<8}{}", at / 1000, at % 1000, text_of(e.what.level),
                     e.what.text);
}

std::string event_json(core::events_answer::entry const& e) {
  json::object one{
      {"number", e.number},
      {"at_ms", milliseconds(e.at)},
      {"severity", text_of(e.what.level)},
      {"kind", kinds[static_cast<std::size_t>(e.what.kind)]},
      {"task", nullptr},
      {"barrier", nullptr},
      {"text", e.what.text},
  };
  if (e.what.task) one["task"] = e.what.task->value;
  if (!e.what.barrier.empty()) one["barrier"] = e.what.barrier;
  return json::serialize(one);
}

}  // namespace coxswain::tools
