#include "terminal/progress_line.hpp"

#include "terminal/error_output.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace coxswain::tools {
namespace {

constexpr duration now_and_then = 2s;

}  // namespace

progress_line::progress_line() : is_terminal_{::isatty(STDOUT_FILENO) == 1} {}

void progress_line::show(time_point now, std::string const& phase, std::string const& state) {
  auto line = fmt::format("{}: {}", phase, state);
  if (line == line_) return;
  if (!is_terminal_ && phase == phase_ && now - shown_at_ < now_and_then) return;
  print_report("{}{}{}", is_terminal_ ? "\r\033[K" : "", line, is_terminal_ ? "" : "\n");
  phase_ = phase;
  line_ = std::move(line);
  shown_at_ = now;
}

void progress_line::clear() {
  if (is_terminal_ && !line_.empty()) write_report("\r\033[K");
  line_.clear();
}

}  // namespace coxswain::tools
