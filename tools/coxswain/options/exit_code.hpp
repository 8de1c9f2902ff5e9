#pragma once
// How the program ends, as sysexits.h numbers it, and the exception that ends it so.

#include "coxswain/base/status.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace coxswain::tools {

enum class exit_code : std::uint8_t {
  ok = 0,
  failed = 1,
  usage = 64,
  unavailable = 69,
  data_loss = 74,
  timed_out = 75,
  refused = 77,
};

// The end of the program's --help.
inline constexpr auto exit_codes_text =
    "EXIT CODES\n"
    "  0 done, 64 wrong usage, 69 no coordinator reachable, 74 journal not writable\n"
    "  or damaged, 75 timed out, 77 refused (token, job, permission), 1 any other\n";

// The end of the --help of a subcommand, after what it has to say of its own.
[[nodiscard]] inline std::string help_end(std::string const& own = {}) {
  return own +
         "Options can be set by variables too (--connect-timeout is COXSWAIN_CONNECT_TIMEOUT) and "
         "in a\n"
         "--config file; see coxswain --help.\n\n" +
         exit_codes_text;
}

// The same for one that always acts for a task.
[[nodiscard]] inline std::string task_help_end(std::string const& own) {
  return own +
         "Works only under coxswain task, for its task. Options can be set by variables too: "
         "--timeout\n"
         "is COXSWAIN_TIMEOUT.\n\n" +
         exit_codes_text;
}

// The exit code for an outcome of a call.
[[nodiscard]] exit_code exit_code_of(errc code) noexcept;

// `what()` is for people and has no prefix: main names the program.
class program_error : public std::runtime_error {
 public:
  program_error(exit_code how, std::string const& text) : std::runtime_error{text}, how_{how} {}

  [[nodiscard]] exit_code how() const noexcept { return how_; }

 private:
  exit_code how_;
};

}  // namespace coxswain::tools
