#pragma once
// All workloads, each in a file of its name.

#include "population.hpp"
#include "workload.hpp"

#include <memory>
#include <vector>

namespace coxswain::bench {

[[nodiscard]] std::unique_ptr<workload> make_barrier();
[[nodiscard]] std::unique_ptr<workload> make_barrier(population who);  // whatever the user says
[[nodiscard]] std::unique_ptr<workload> make_barrier_data();
[[nodiscard]] std::unique_ptr<workload> make_join();
[[nodiscard]] std::unique_ptr<workload> make_churn();
[[nodiscard]] std::unique_ptr<workload> make_kv();
[[nodiscard]] std::unique_ptr<workload> make_dir_get();
[[nodiscard]] std::unique_ptr<workload> make_fan_out();
[[nodiscard]] std::unique_ptr<workload> make_heartbeat();
[[nodiscard]] std::unique_ptr<workload> make_failure();
[[nodiscard]] std::unique_ptr<workload> make_deadlines();
[[nodiscard]] std::unique_ptr<workload> make_mixed();
[[nodiscard]] std::unique_ptr<workload> make_check();

// In the order of the help.
[[nodiscard]] std::vector<std::unique_ptr<workload>> all_workloads();

}  // namespace coxswain::bench
