#include "disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace coxswain::bench {

bool disturbance::is_too_much() const { return others > 0.03 || stolen > 0.02 || waiting > 0.03; }

std::string disturbance::warning() const {
  return fmt::format(
      "WARNING: the machine was busy: other processes used {:.0f} % of its CPUs, the hypervisor "
      "took {:.0f} %,\nand ours waited for a CPU {:.0f} % of their time. Only the ratios are "
      "worth something; repeat when it is quiet.",
      100 * others, 100 * stolen, 100 * waiting);
}

disturbance disturbance_between(machine_time const& before, usage const& ours_before,
                                machine_time const& after, usage const& ours_after) {
  auto const share = [](duration part, duration whole) {
    auto const d = [](duration t) { return static_cast<double>(t.count()); };
    return whole > 0ns ? std::clamp(d(part) / d(whole), 0.0, 1.0) : 0.0;
  };
  auto const total = after.total - before.total;
  auto const used = ours_after.used - ours_before.used;
  auto const waited = ours_after.waited - ours_before.waited;
  return {share(after.busy - before.busy - used, total), share(after.stolen - before.stolen, total),
          share(waited, used + waited)};
}

}  // namespace coxswain::bench
