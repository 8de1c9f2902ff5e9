#include "coxswain/core/access.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace coxswain::core {
namespace {

struct rule {
  role needed{};
  std::string_view verb;
};

// A request without a rule does not compile.
constexpr rule rule_of(std::monostate const&) { return {role::reader, "send heartbeats"}; }
constexpr rule rule_of(hello_args const&) { return {role::reader, "say hello"}; }
constexpr rule rule_of(resume_args const&) { return {role::reader, "resume"}; }
constexpr rule rule_of(bye_args const&) { return {role::reader, "say bye"}; }
constexpr rule rule_of(withdraw_args const&) { return {role::reader, "withdraw"}; }
constexpr rule rule_of(ask_waiting_args const&) {
  return {role::reader, "ask what its own calls wait for"};
}
constexpr rule rule_of(get_args const&) { return {role::reader, "get keys"}; }
constexpr rule rule_of(try_get_args const&) { return {role::reader, "get keys"}; }
constexpr rule rule_of(get_all_args const&) { return {role::reader, "get keys"}; }
constexpr rule rule_of(list_args const&) { return {role::reader, "list keys"}; }
constexpr rule rule_of(count_keys_args const&) { return {role::reader, "count keys"}; }
constexpr rule rule_of(watch_keys_args const&) { return {role::reader, "watch keys"}; }
constexpr rule rule_of(inspect_args const&) { return {role::reader, "look at the job"}; }
constexpr rule rule_of(why_args const&) { return {role::reader, "ask who waits for what"}; }
constexpr rule rule_of(alive_args const&) { return {role::reader, "ask who is alive"}; }
constexpr rule rule_of(watch_tasks_args const&) { return {role::reader, "watch tasks"}; }
constexpr rule rule_of(watch_events_args const&) { return {role::reader, "watch events"}; }
constexpr rule rule_of(put_args const&) { return {role::operator_, "put keys"}; }
constexpr rule rule_of(put_all_args const&) { return {role::operator_, "put keys"}; }
constexpr rule rule_of(compare_and_set_args const&) {
  return {role::operator_, "compare and set keys"};
}
constexpr rule rule_of(append_args const&) { return {role::operator_, "append to keys"}; }
constexpr rule rule_of(increment_args const&) { return {role::operator_, "increment keys"}; }
constexpr rule rule_of(remove_args const&) { return {role::operator_, "remove keys"}; }
constexpr rule rule_of(push_args const&) { return {role::operator_, "push to queues"}; }
constexpr rule rule_of(pop_args const&) { return {role::operator_, "pop from queues"}; }
constexpr rule rule_of(count_barrier_args const&) {
  return {role::operator_, "wait at count barriers"};
}
constexpr rule rule_of(cancel_barrier_args const&) { return {role::operator_, "cancel barriers"}; }
constexpr rule rule_of(preempt_args const&) { return {role::operator_, "preempt tasks"}; }
constexpr rule rule_of(join_args const&) { return {role::worker, "join"}; }
constexpr rule rule_of(leave_args const&) { return {role::worker, "leave"}; }
constexpr rule rule_of(barrier_args const&) { return {role::worker, "wait at barriers"}; }
constexpr rule rule_of(report_error_args const&) { return {role::worker, "report errors"}; }
constexpr rule rule_of(report_progress_args const&) { return {role::worker, "report progress"}; }
constexpr rule rule_of(reset_args const&) { return {role::worker, "reset tasks"}; }
constexpr rule rule_of(grant_args const&) { return {role::worker, "let programs act for a task"}; }
constexpr rule rule_of(frozen_args const&) { return {role::worker, "agree on a step"}; }
constexpr rule rule_of(exchange_topology_args const&) {
  return {role::worker, "exchange topologies"};
}

rule rule_of_any(request const& what) {
  return std::visit([](auto const& args) { return rule_of(args); }, what);
}

}  // namespace

role required_role(request const& what) noexcept { return rule_of_any(what).needed; }

status permission(role mine, request const& what) {
  rule const r = rule_of_any(what);
  if (mine >= r.needed) return {};
  return {errc::permission_denied,
          "role '" + std::string{name(mine)} + "' may not " + std::string{r.verb} + "; it needs '" +
              std::string{name(r.needed)} + "': ask for a token of that role"};
}

}  // namespace coxswain::core
