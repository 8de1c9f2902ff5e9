#include "workloads/workload.hpp"

#include "servers/roles.hpp"

#include <map>
#include <utility>

namespace coxswain::bench {
namespace {

namespace json = boost::json;

side_kind kind_of(json::string_view name) {
  static std::map<std::string_view, side_kind> const all{
      {"coxswain", side_kind::coxswain}, {"native", side_kind::coxswain},
      {"xla", side_kind::xla},           {"xla_service", side_kind::xla},
      {"redis", side_kind::redis},       {"etcd", side_kind::etcd}};
  auto const found = all.find({name.data(), name.size()});
  return found == all.end() ? side_kind::baseline : found->second;
}

address address_of(json::object const& given) {
  address server{json::value_to<std::string>(given.at("address"))};
  if (auto const* const tls = given.if_contains("tls")) server.speak(tls_options_of(*tls));
  if (auto const* const spin = given.if_contains("spin_us")) {
    server.spin(std::chrono::microseconds{spin->as_int64()});
  }
  return server;
}

// Unless it says so, directly.
ways ways_of(json::object const& given) {
  ways how;
  if (auto const* const trunks = given.if_contains("trunks")) {
    how.trunks = json::value_to<std::size_t>(*trunks);
  }
  if (auto const* const relays = given.if_contains("relays")) {
    for (auto const& one : relays->as_array()) {
      how.relays.emplace_back(json::value_to<std::string>(one));
    }
  }
  return how;
}

}  // namespace

load_plan::load_plan(json::object given)
    : kind{kind_of(given.at("kind").as_string())},
      server{address_of(given)},
      size{json::value_to<std::size_t>(given.at("connections")),
           json::value_to<std::uint32_t>(given.at("tasks"))},
      how{ways_of(given)},
      options{std::move(given)} {
  if (auto const* const pid = options.if_contains("server_pid")) {
    server_pid = json::value_to<pid_t>(*pid);
  }
}

std::unique_ptr<load> make_load(std::string_view workload, load_plan const& plan) {
  static std::map<std::string_view, std::unique_ptr<load> (*)(load_plan const&)> const all{
      {"barrier", make_barrier},    {"join", make_join},       {"churn", make_churn},
      {"keys", make_keys},          {"fan-out", make_fan_out}, {"heartbeat", make_heartbeat},
      {"failure", make_failure},    {"mixed", make_mixed},     {"history", make_history},
      {"deadlines", make_deadlines}};
  auto const found = all.find(workload);
  if (found == all.end()) refuse("there is no workload '{}'", workload);
  return found->second(plan);
}

std::unique_ptr<peer> make_peer(load_plan const& plan, rival_plan const& rival) {
  switch (plan.kind) {
    case side_kind::redis: return make_redis_peer(rival);
    case side_kind::etcd: return make_etcd_peer(rival);
    case side_kind::coxswain: return make_coxswain_peer(plan.size.tasks);
    case side_kind::xla: return make_xla_peer(plan.size.tasks == 0);
    case side_kind::baseline: break;
  }
  return make_baseline_peer();
}

}  // namespace coxswain::bench
