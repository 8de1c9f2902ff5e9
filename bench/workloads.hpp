#pragma once
// All workloads, each in a file of its name or with one that is alike.

#include "workload.hpp"

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

}  // namespace coxswain::bench
