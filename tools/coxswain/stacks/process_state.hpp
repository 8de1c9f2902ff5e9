#pragma once
// What the kernel says about a process, in /proc, and about those that it has started. Reads only
// files that do not wait for the process's memory map, so that a process that hangs in the kernel
// holds up nobody. Not here: its stack (thread_stacks).

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::tools {

// Of one process: its line in /proc/PID/stat.
struct process_entry {
  pid_t pid{};
  pid_t parent{};
  char state{};  // as ps shows it: R, S, D, T ...
  std::string name;
  std::uint64_t resident_pages{};
};

// None: it is no such line.
[[nodiscard]] std::optional<process_entry> parse_stat(std::string_view line);

// All others that this user can see.
[[nodiscard]] std::vector<process_entry> other_processes();

// The process that a client's name such as "b12:3391" means, if it is `root` or was started by it;
// else the largest one of these: shells and launchers are small. None: there is no `root`.
[[nodiscard]] std::optional<process_entry> chosen_process(std::vector<process_entry> const& all,
                                                          pid_t root, std::string_view client);

// "read" for 0 on x86-64, "system call 500" for one that has no name here.
[[nodiscard]] std::string syscall_name(long number);

// Of the line of /proc/PID/syscall: "read of /data/x", "futex". Empty: it runs, or is hidden.
// `file_of` names the file of a descriptor.
[[nodiscard]] std::string syscall_text(std::string_view line,
                                       std::function<std::string(std::uint64_t)> const& file_of);

// "stopped (SIGSTOP or Ctrl-Z)" for T, "sleeping" for S.
[[nodiscard]] std::string state_text(char state);

// What the process does, as far as the kernel says: "sleeping in clock_nanosleep", "running",
// "waiting for a device or file system in read of /data/x".
[[nodiscard]] std::string activity_of(process_entry const& process);

// The frames of the main thread in the kernel, innermost first, if they can be read.
[[nodiscard]] std::vector<std::string> kernel_frames(pid_t pid);

}  // namespace coxswain::tools
