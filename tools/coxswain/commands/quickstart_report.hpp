#pragma once
// The measurements of a quickstart worker, as the value of a key, and the table of all.

#include "coxswain/base/time.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace coxswain::tools {

struct worker_report {
  worker_report() = default;  // no aggregate: GCC 12, see tools/tidy.py

  duration join{};
  duration exchange{};
  std::uint64_t devices{};
  std::vector<duration> rounds;
};

// The directory of the workers' reports, and one of them.
inline constexpr auto reports_directory = "quickstart/report";
[[nodiscard]] std::string report_key(std::uint32_t task);

[[nodiscard]] std::string to_text(worker_report const& report);
[[nodiscard]] worker_report parse_report(std::string const& text);

// One row of the table. A worker that left no report has only its result.
struct worker_row {
  std::uint32_t task{};
  int pid{};
  std::string result;
  bool has_report{};
  worker_report report;
};

// The table, and below it the figures of all workers together.
[[nodiscard]] std::string report_text(std::vector<worker_row> const& rows);

}  // namespace coxswain::tools
