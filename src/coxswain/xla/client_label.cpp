#include "coxswain/xla/client_label.hpp"

#include <algorithm>
#include <cstddef>

namespace coxswain::xla {
namespace {

struct release {
  std::string_view grpc;  // major and minor version
  generation of;
  std::string_view jaxlib;
};

constexpr release releases[] = {
    {"1.27", generation::second, "0.4.36-0.6"},  {"1.68", generation::second, "0.7.0"},
    {"1.74", generation::second, "0.7.1-0.9.0"}, {"1.78", generation::second, "0.9.1-0.9.2"},
    {"1.78", generation::third, "0.10"},
};

constexpr std::size_t version_bytes_max = 24;

// "1.78.0"; empty if it is not stated.
std::string_view grpc_version(std::string_view user_agent) {
  constexpr std::string_view product = "grpc-c++/";
  auto const at = user_agent.find(product);
  if (at == user_agent.npos) return {};
  user_agent.remove_prefix(at + product.size());
  auto const end = user_agent.find_first_not_of("0123456789.");
  return user_agent.substr(0, std::min(end, version_bytes_max));
}

}  // namespace

std::string client_label(std::string_view user_agent, generation of) {
  auto const version = grpc_version(user_agent);
  for (auto const& release : releases) {
    bool const is_it = release.of == of && version.starts_with(release.grpc) &&
                       version.substr(release.grpc.size()).starts_with('.');
    if (is_it) return "jax " + std::string{release.jaxlib};
  }
  return of == generation::second ? "jax 0.4.36-0.9" : "jax 0.10 or newer";
}

std::string client_place(std::string const& peer, std::string const& host) {
  constexpr std::string_view unix_begin = "unix: process ";
  if (!peer.starts_with(unix_begin)) return peer;
  auto const rest = peer.substr(unix_begin.size());
  auto const process = rest.substr(0, rest.find(' '));
  if (process == "0") return host.empty() ? peer : host;  // of another pid namespace
  return (host.empty() ? "process " : host + ":") + process;
}

}  // namespace coxswain::xla
