#include "workloads/workload.hpp"

#include <map>
#include <utility>

namespace coxswain::bench {
namespace {

namespace json = boost::json;

side_kind kind_of(json::string_view name) {
  static std::map<std::string_view, side_kind> const all{{"coxswain", side_kind::coxswain},
                                                         {"native", side_kind::coxswain},
                                                         {"xla", side_kind::xla},
                                                         {"xla_service", side_kind::xla},
                                                         {"redis", side_kind::redis}};
  auto const found = all.find({name.data(), name.size()});
  return found == all.end() ? side_kind::baseline : found->second;
}

address address_of(json::object const& given) {
  address server{json::value_to<std::string>(given.at("address"))};
  if (auto const* const spin = given.if_contains("spin_us")) {
    server.spin(std::chrono::microseconds{spin->as_int64()});
  }
  return server;
}

}  // namespace

load_plan::load_plan(json::object given)
    : kind{kind_of(given.at("kind").as_string())},
      server{address_of(given)},
      size{json::value_to<std::size_t>(given.at("connections")),
           json::value_to<std::uint32_t>(given.at("tasks"))},
      options{std::move(given)} {}

std::unique_ptr<load> make_load(std::string_view workload, load_plan const& plan) {
  static std::map<std::string_view, std::unique_ptr<load> (*)(load_plan const&)> const all{
      {"barrier", make_barrier}, {"join", make_join},       {"keys", make_keys},
      {"fan-out", make_fan_out}, {"failure", make_failure}, {"heartbeat", make_heartbeat}};
  auto const found = all.find(workload);
  if (found == all.end()) refuse("there is no workload '{}'", workload);
  return found->second(plan);
}

std::unique_ptr<peer> make_peer(load_plan const& plan, redis_plan const& redis) {
  switch (plan.kind) {
    case side_kind::redis: return make_redis_peer(redis);
    case side_kind::coxswain: return make_coxswain_peer(plan.size.tasks);
    case side_kind::xla: return make_xla_peer(plan.size.tasks == 0);
    case side_kind::baseline: break;
  }
  return make_baseline_peer();
}

}  // namespace coxswain::bench
