#pragma once
// How many tasks a load has and over how many connections, when they send, and what they say to
// begin their part in a job: options and words of several workloads.

#include "workloads/workload.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstdint>
#include <string>

namespace coxswain::bench {

// When the requests of one volley are sent.
struct arrivals {
  enum class pattern {
    together,  // as fast as can be: those of one session with one call
    ordered,   // each with a call of its own, in the order of the tasks, as fast as can be
    jittered,  // each at a random moment
  };
  pattern how{pattern::together};
  duration within{};  // jittered: all of them within so long a time

  // "together", "ordered", "jittered:5ms". Throws bench_error (usage).
  [[nodiscard]] static arrivals parse(std::string const& text);
};

struct population {
  std::uint32_t tasks{};
  std::uint32_t sessions{};        // zero: one for each task
  std::uint32_t floor_tasks{};     // zero: as many
  std::uint32_t floor_sessions{};  // zero: one for each task

  void add_to(CLI::App& command, bool has_floor = true);
  // Tells a plan of it, in which all join when the load connects, and names it: "1,024 tasks",
  // "10,000 tasks in 100 sessions (the floor: 1,024)". Throws bench_error (usage).
  std::string describe(plan& work) const;
  // A fifth of it.
  [[nodiscard]] population smaller() const;
};

[[nodiscard]] core::hello_args hello();

// As large as those of a coordinator with default options and so many tasks.
[[nodiscard]] core::answer hello_answer(std::uint32_t tasks);

[[nodiscard]] core::answer join_answer();

}  // namespace coxswain::bench
