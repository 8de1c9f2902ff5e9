#pragma once
// Takes the stacks of processes that this one has started, when the coordinator wants them, without
// blocking the loop: each is read by a process of its own, `coxswain stack`, a few at a time and
// within a time limit. Not here: how a stack is read (process_stack).
//
// Not thread-safe.

#include "coxswain/core/model/messages.hpp"
#include "coxswain/net/asio.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace coxswain::tools {

class stack_taker {
 public:
  // Called once for each process that was asked for. Must not throw.
  using reporter = std::function<void(core::report_stack_args)>;

  // A process of that tree: see chosen_process. Zero: `why_not` says why there is none.
  struct process {
    task_id task{};
    pid_t root{};
    std::string client;
    std::string why_not;
  };

  // `beside`: where py-spy may be, besides PATH and the directory of this program.
  stack_taker(asio::any_io_executor executor, std::string beside, reporter report);
  // Reports no more.
  ~stack_taker();
  stack_taker(stack_taker const&) = delete;
  stack_taker& operator=(stack_taker const&) = delete;

  // Those that were wanted before and have not begun are given up.
  void take(std::uint64_t number, std::vector<process> processes);

 private:
  struct state;
  static asio::awaitable<void> work(std::shared_ptr<state> self, std::size_t slot);
  static asio::awaitable<std::string> read(std::shared_ptr<state> self, std::size_t slot,
                                           process const& of);

  std::shared_ptr<state> state_;
};

// The directory of the program that this command names, if it names one.
[[nodiscard]] std::string directory_of_program(std::vector<std::string> const& command);

}  // namespace coxswain::tools
