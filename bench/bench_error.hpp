#pragma once
// What went wrong in the benchmark, for the person who runs it: the text says what happened and
// what to do. Not here: outcomes that a peer reports (base/status); they end up in the text.

#include <stdexcept>
#include <string>

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

// "cannot open epoll: Too many open files": adds what errno says to `what`.
[[nodiscard]] bench_error system_failure(std::string const& what);

}  // namespace coxswain::bench
