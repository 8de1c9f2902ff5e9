#pragma once
// All workloads, each in a file of its name or with one that is alike.

#include "workloads/workload.hpp"

namespace coxswain::bench {

[[nodiscard]] workload make_barrier();
[[nodiscard]] workload make_barrier_data();
[[nodiscard]] workload make_join();
[[nodiscard]] workload make_churn();
[[nodiscard]] workload make_kv();
[[nodiscard]] workload make_dir_get();
[[nodiscard]] workload make_fan_out();
[[nodiscard]] workload make_heartbeat();
[[nodiscard]] workload make_failure();
[[nodiscard]] workload make_deadlines();
[[nodiscard]] workload make_mixed();
[[nodiscard]] workload make_check();

// The subcommand of the client processes that `check` starts, which the help does not show. What is
// returned runs it, if the command line has it, and says so.
[[nodiscard]] std::function<bool()> add_client_process(CLI::App& program);

}  // namespace coxswain::bench
