#include "workloads.hpp"

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

std::vector<std::unique_ptr<workload>> all_workloads() {
  std::vector<std::unique_ptr<workload>> all;
  all.push_back(make_barrier());
  all.push_back(make_barrier_data());
  all.push_back(make_join());
  all.push_back(make_churn());
  all.push_back(make_kv());
  all.push_back(make_dir_get());
  all.push_back(make_fan_out());
  all.push_back(make_heartbeat());
  all.push_back(make_failure());
  all.push_back(make_deadlines());
  all.push_back(make_mixed());
  all.push_back(make_check());
  return all;
}

}  // namespace coxswain::bench
