#pragma once
// What the benchmark asks the operating system: descriptors, CPUs, and who used them.

#include "coxswain/base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace coxswain::bench {

// Raises this process's soft limit of open files (and, where allowed, the hard one) to at least
// `needed`. Throws bench_error, which names the limit and how to raise it, if that is impossible.
void need_descriptors(std::size_t needed);

// Where the two sides of a measurement run. None: there is only one CPU, and nobody is pinned.
struct cpu_plan {
  std::optional<int> server;
  std::optional<int> load;
};

// The first and the last CPU that this process may use.
[[nodiscard]] cpu_plan plan_cpus();

// Binds the calling process to one CPU. Throws bench_error.
void pin_to(int cpu);

// The CPU time that a process has used, user and kernel, as the kernel counts it (nanoseconds).
// Throws bench_error if there is no such process.
[[nodiscard]] duration cpu_time_of(pid_t process);

// That of all child processes that have ended and were reaped.
[[nodiscard]] duration cpu_time_of_ended_children();

// How long the process was ready to run but had no CPU; zero if the kernel does not tell.
[[nodiscard]] duration wait_time_of(pid_t process);

// A process's memory that is in RAM, now and at most since `forget_peak` or its start.
struct memory_use {
  std::uint64_t now_bytes{};
  std::uint64_t peak_bytes{};
};

// None if there is no such process.
[[nodiscard]] std::optional<memory_use> memory_of(pid_t process);

// Lets the peak begin anew, where the kernel allows it.
void forget_peak(pid_t process);

// The machine's time so far, of all CPUs together (/proc/stat, in steps of 10 ms).
struct machine_time {
  duration busy{};
  duration stolen{};  // by the hypervisor
  duration total{};
};

[[nodiscard]] machine_time read_machine_time();

}  // namespace coxswain::bench
