#pragma once
// An error of the benchmark, for its user: the text says what happened and what to do. Not here:
// outcomes that a peer reports (base/status); they end up in the text.

#include <fmt/format.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace coxswain::bench {

// The program's exit codes; the same as those of the program coxswain.
enum class exit_code : int { ok = 0, failed = 1, usage = 64, unavailable = 69, interrupted = 130 };

class bench_error : public std::runtime_error {
 public:
  explicit bench_error(std::string const& text, exit_code code = exit_code::failed)
      : std::runtime_error{text}, code_{code} {}

  [[nodiscard]] exit_code code() const noexcept { return code_; }

 private:
  exit_code code_;
};

// Throws the error for invalid options.
template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
  throw bench_error{fmt::format(text, std::forward<Values>(values)...), exit_code::usage};
}

// "cannot open epoll: Too many open files": appends the text of errno to `what`.
[[nodiscard]] inline bench_error system_failure(std::string const& what) {
  return bench_error{what + ": " + std::generic_category().message(errno)};
}

}  // namespace coxswain::bench
