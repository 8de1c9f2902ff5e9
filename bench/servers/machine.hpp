#pragma once
// What the benchmark asks the operating system: descriptors, CPUs, who used them, and what machine
// this is; and what a person sees while it works.

#include "bench_error.hpp"

#include "coxswain/base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <sys/types.h>

namespace coxswain::bench {

// Raises this process's soft limit of open files (and, where allowed, the hard one) to at least
// `needed`. Throws bench_error, which names the limit and how to raise it, if that is impossible.
void need_descriptors(std::size_t needed);

// Where the two sides of a measurement run. None: there is only one CPU, and nobody is pinned.
struct cpu_plan {
  std::optional<int> server;
  std::optional<int> load;

  // "servers on CPU 0, load on CPU 1".
  [[nodiscard]] std::string text() const;
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

// Shares of the machine's or the processes' time (0 to 1).
struct disturbance {
  double others{};   // CPU used by processes that are not ours
  double stolen{};   // CPU taken by the hypervisor
  double waiting{};  // our processes ready, but without a CPU

  [[nodiscard]] bool is_too_much() const;
  // What to think of the figures then.
  [[nodiscard]] std::string warning() const;
};

// What the benchmark's processes have used, and how long they were ready but had no CPU.
struct usage {
  duration used{};
  duration waited{};
};

// Between two moments.
[[nodiscard]] disturbance disturbance_between(machine_time const& before, usage const& ours_before,
                                              machine_time const& after, usage const& ours_after);

// Where figures come from, in words: nobody can make much of them without.
struct origin {
  std::string machine;  // "AMD EPYC 7B13, 2 CPUs, 24 GiB, Linux 6.1.0-18-amd64"
  std::string program;  // "coxswain-bench 0.1.0, built by g++ 12.2.0 for release"
  std::string day;      // "2026-11-21", UTC
};

// This machine, this program, today.
[[nodiscard]] origin here();

// A directory for sockets and files, which vanishes with everything in it.
class temporary_directory {
 public:
  // Throws bench_error.
  explicit temporary_directory(std::string const& parent = "/tmp")
      : path_{parent + "/coxswain-bench-XXXXXX"} {
    if (::mkdtemp(path_.data()) == nullptr) throw system_failure("cannot make " + path_);
  }
  ~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_directory(temporary_directory const&) = delete;
  temporary_directory& operator=(temporary_directory const&) = delete;

  [[nodiscard]] std::string const& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// A line on standard error that is written over, if a person looks at it.
class progress {
 public:
  progress();
  ~progress();
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

  void show(std::string const& text) const;

 private:
  bool is_live_;
};

}  // namespace coxswain::bench
