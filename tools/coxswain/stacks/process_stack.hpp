#pragma once
// What a process does: its stack, with whatever program this machine has to read it, and what the
// kernel says. May take seconds, and blocks: for a process of its own (coxswain stack).

#include <sys/types.h>

#include <string>
#include <string_view>

namespace coxswain::tools {

struct process_stack {
  std::string main;  // the main thread, innermost frame first, a line each; empty: unknown
  std::string rest;  // other threads, and the kernel's view; or why nothing is known
};

// Of the process that `client` means among `root` and those that it has started: see
// chosen_process. Python frames with py-spy, if it is found in PATH or beside this program or
// `beside`; else C frames with eu-stack or gdb; else what the kernel says. py-spy does not stop the
// process; the others do, for the moment in which they read.
[[nodiscard]] process_stack stack_of(pid_t root, std::string_view client,
                                     std::string const& beside = {});

// As `coxswain stack` prints it: the main thread, an empty line, the rest. And the inverse.
[[nodiscard]] std::string printed(process_stack const& what);
[[nodiscard]] process_stack parse_printed(std::string_view text);

}  // namespace coxswain::tools
