#include "workloads/workload.hpp"

#include "workloads/workloads.hpp"

namespace coxswain::bench {

std::string name(side_kind kind) {
  switch (kind) {
    case side_kind::floor: return "floor";
    case side_kind::coxswain: return "coxswain";
    case side_kind::second_floor: return "floor-2";
    case side_kind::processes: return "processes";
    case side_kind::redis: return "redis";
    case side_kind::etcd: return "etcd";
  }
  return {};
}

std::unique_ptr<peer> make_peer(side_kind kind, std::uint32_t tasks, rival_plan const& rival) {
  if (kind == side_kind::redis) return make_redis_peer(rival);
  if (kind == side_kind::etcd) return make_etcd_peer(rival);
  return kind == side_kind::coxswain ? make_coxswain_peer(tasks) : make_floor_peer();
}

std::vector<workload> all_workloads() {
  return {make_barrier(), make_barrier_data(), make_join(),    make_churn(),
          make_kv(),      make_dir_get(),      make_fan_out(), make_heartbeat(),
          make_failure(), make_deadlines(),    make_mixed(),   make_check()};
}

}  // namespace coxswain::bench
