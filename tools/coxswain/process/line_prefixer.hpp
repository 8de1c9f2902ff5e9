#pragma once
// Splits a process's output into lines with a prefix each. Memory is bounded: too long a line is
// split. No I/O.

#include <cstddef>
#include <string>
#include <string_view>

namespace coxswain::tools {

class line_prefixer {
 public:
  static constexpr std::size_t line_bytes_max = 64 * 1024;

  explicit line_prefixer(std::string prefix) : prefix_{std::move(prefix)} {}

  // Appends the lines that `bytes` completes.
  void feed(std::string_view bytes, std::string& lines);

  // Appends the last line if its end is missing, with an end.
  void finish(std::string& lines);

 private:
  void end_line(std::string_view rest, std::string& lines);

  std::string prefix_;
  std::string begun_;  // a line whose end has not come
};

}  // namespace coxswain::tools
