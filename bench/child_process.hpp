#pragma once
// A forked process of the benchmark, with a channel to it. It never outlives its parent, whatever
// ends the parent, and the destructor ends and reaps it.

#include "channel.hpp"

#include "coxswain/base/time.hpp"

#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

namespace coxswain::bench {

class interrupts;

class child_process {
 public:
  // Runs `body` in a new process, bound to `cpu` if one is given. What `body` throws comes over the
  // channel as a `failure`. `name` is for messages: "the floor's server". Throws bench_error.
  child_process(std::string name, std::optional<int> cpu, std::function<void(channel&)> body);
  ~child_process();
  child_process(child_process const&) = delete;
  child_process& operator=(child_process const&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  // Throw bench_error, with the child's last words, if it does not listen any more.
  void send(message_kind kind);
  void send_number(message_kind kind, std::uint64_t number);

  // The next message. Throws bench_error with the child's own words if it failed, with how it ended
  // if it ended, and when the user interrupts.
  [[nodiscard]] message receive(interrupts const& signals);
  // The same in a process that interrupts simply end.
  [[nodiscard]] message receive();

  // What the process had to say, if it ended or is about to: its failure, or how it ended.
  [[nodiscard]] std::optional<bench_error> last_words();

  // Waits until it has ended by itself.
  void await_end();

  // How the process ended ("was killed by signal 11 (Segmentation fault)"); none while it runs.
  [[nodiscard]] std::optional<std::string> ending();

 private:
  [[nodiscard]] bench_error why_silent(std::optional<message> const& received);
  [[noreturn]] static void run_child(channel control, std::optional<int> cpu, pid_t parent,
                                     std::function<void(channel&)> const& body);

  std::string name_;
  channel control_{descriptor{}};
  pid_t pid_{-1};
  std::optional<std::string> ending_;  // known: the process has been reaped
};

}  // namespace coxswain::bench
