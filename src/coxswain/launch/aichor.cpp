// AIchor's JAX operator (§19.1.1 to §19.1.5). It provides everything; but its address is a text
// that a shell must expand, unless Kubernetes has already done so.

#include "coxswain/launch/launchers.hpp"

#include <string_view>

namespace coxswain::launch {
namespace {

constexpr auto address_variable = "JAXOPERATOR_COORDINATOR_ADDRESS";
constexpr auto host_variable = "JAXOPERATOR_COORDINATOR_HOST";
constexpr std::string_view unexpanded = "$(JAXOPERATOR_COORDINATOR_HOST)";
constexpr auto port_default = ":1234";

sourced_value<std::string> expanded(std::string const& value, std::string const& host) {
  auto text = value;
  if (auto const at = text.find(unexpanded); at != text.npos) {
    if (host.empty()) {
      return sourced_value<std::string>::wrong(
          refusal(address_variable, value, std::string{host_variable} + " to be set"),
          address_variable);
    }
    text.replace(at, unexpanded.size(), host);
    auto found = variables::address(text, address_variable, value);
    if (!found.problem().ok()) return found;
    return {text, std::string{address_variable} + " and " + host_variable};
  }
  return variables::address(text, address_variable, value);
}

sourced_value<std::string> address_of(variables const& env) {
  auto const value = env[address_variable];
  auto const host = env[host_variable];
  if (value.empty() && host.empty()) return {};
  if (value.empty()) return {host + port_default, host_variable};
  auto found = expanded(value, host);
  if (!found.problem().ok() || host.empty() || host_of(*found.value()) == host) return found;
  return sourced_value<std::string>::wrong(
      refusal(address_variable, value,
              "the host of " + std::string{host_variable} + ", which is '" + host + "'"),
      address_variable);
}

}  // namespace

bool has_aichor(variables const& env) {
  return env.has(address_variable) || env.has(host_variable) || env.has("JAXOPERATOR_PROCESS_ID");
}

parameters of_aichor(variables const& env) {
  parameters found;
  found.address = address_of(env);
  found.task = env.number<std::uint32_t>("JAXOPERATOR_PROCESS_ID");
  found.num_tasks = env.number<std::uint32_t>("JAXOPERATOR_NUM_PROCESSES", 1);
  return found;
}

}  // namespace coxswain::launch
