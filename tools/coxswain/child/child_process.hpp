#pragma once
// A child process that leads a process group of its own; the group dies with us. Not here: waiting
// for SIGCHLD; passing on its output.

#include "child/supervisor.hpp"

#include "coxswain/net/descriptor.hpp"

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::tools {

// How a process ended.
struct ending {
  bool was_killed{};
  int number{};        // the signal's, else the exit status
  bool after_grace{};  // we sent the signal, after --kill-grace

  [[nodiscard]] bool is_good() const noexcept { return !was_killed && number == 0; }

  // As in a shell: 128 + the signal, else the exit status.
  [[nodiscard]] int code() const noexcept { return was_killed ? 128 + number : number; }

  // "killed by signal 9 (SIGKILL)", "exited with status 3". Says if we sent the signal.
  [[nodiscard]] std::string text() const;
  // The same after a subject: "was killed by signal 9 (SIGKILL)".
  [[nodiscard]] std::string predicate() const;

  friend auto operator<=>(ending const&, ending const&) = default;
};

// Arguments or environment as exec wants them. The texts stay the caller's.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& texts);

struct child_command {
  std::vector<std::string> arguments;  // the first is the program, looked for in PATH
  // Set in addition to our own environment; a value that is empty unsets the variable.
  std::vector<std::pair<std::string, std::string>> environment;
  rlimit descriptors{};  // zero: as ours
  // It gets our standard input, output and error instead of none and pipes. A terminal is not
  // passed on: the kernel stops a process group in the background that reads from it.
  bool shares_streams{};
};

class child_process {
 public:
  // Standard input is empty, standard output and error are pipes, unless it shares ours. `group` is
  // its supervisor's, who outlives it. Throws program_error: 127 if there is no such program, 126
  // if it cannot be run, as a shell gives; else 1.
  child_process(child_command const& command, supervisor::group& group);

  // Kills the rest of its process group, and waits for it.
  ~child_process();
  child_process(child_process const&) = delete;
  child_process& operator=(child_process const&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  // The reading ends of its pipes, if it has any. Once each.
  [[nodiscard]] net::descriptor take_output() noexcept { return std::move(output_); }
  [[nodiscard]] net::descriptor take_errors() noexcept { return std::move(errors_); }

  // Has it ended? Does not wait. Its number stays taken, so that its group can still be signalled.
  [[nodiscard]] std::optional<ending> look() noexcept;

  // It is stopped now.
  [[nodiscard]] bool has_stopped() const noexcept;

  // To all of its process group, also when the process itself has ended.
  void signal(int number) const noexcept;

 private:
  supervisor::group& group_;
  pid_t pid_{-1};
  net::descriptor output_;
  net::descriptor errors_;
  std::optional<ending> ending_;
};

}  // namespace coxswain::tools
