#pragma once
// The stacks that other programs print of a process: py-spy dump, eu-stack and gdb. Not here: how
// these are run (process_stack).

#include <string>
#include <string_view>
#include <vector>

namespace coxswain::tools {

// A thread and its frames, innermost first: "load (train.py:31)", "clock_nanosleep".
struct thread_stack {
  std::string name;
  std::vector<std::string> frames;

  friend bool operator==(thread_stack const&, thread_stack const&) = default;
};

// The threads in the output, the main one first; none: it has no frame. Numbers of processes and
// threads, addresses and registers are left out, so that equal stacks are equal texts. Of each at
// most 100 frames, of at most 64 threads, whatever the output is.
[[nodiscard]] std::vector<thread_stack> py_spy_stacks(std::string_view output);
[[nodiscard]] std::vector<thread_stack> eu_stacks(std::string_view output);
[[nodiscard]] std::vector<thread_stack> gdb_stacks(std::string_view output);

}  // namespace coxswain::tools
