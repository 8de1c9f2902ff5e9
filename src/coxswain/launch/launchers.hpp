#pragma once
// The launchers: how each is recognised, and what it says. Each stands in a file of its own; the
// order in which they are asked is detection.cpp's.

#include "coxswain/launch/detection.hpp"
#include "coxswain/launch/variables.hpp"

namespace coxswain::launch {

[[nodiscard]] bool has_torchrun(variables const& env);
[[nodiscard]] bool has_torch(variables const& env);
[[nodiscard]] parameters of_torch(variables const& env);

[[nodiscard]] bool has_aichor(variables const& env);
[[nodiscard]] parameters of_aichor(variables const& env);

[[nodiscard]] bool has_open_mpi(variables const& env);
[[nodiscard]] parameters of_open_mpi(variables const& env);

[[nodiscard]] bool has_slurm(variables const& env);
[[nodiscard]] parameters of_slurm(variables const& env);

[[nodiscard]] bool has_tpu(variables const& env);
[[nodiscard]] parameters of_tpu(variables const& env);

[[nodiscard]] bool has_kubernetes(variables const& env);
[[nodiscard]] parameters of_kubernetes(variables const& env);

}  // namespace coxswain::launch
