#include "coxswain/core/membership/host_backoff.hpp"

#include <algorithm>

namespace coxswain::core {
namespace {

// So many losses within this time are the first that count.
constexpr std::size_t losses_allowed = 3;
constexpr duration remembered_for = 10min;

constexpr duration wait_min = 10s;
constexpr duration wait_max = 100s;

}  // namespace

void host_backoff::lost(time_point now, std::string const& host) {
  auto const is_old = [&](time_point at) { return at <= now - remembered_for; };
  std::erase_if(hosts_, [&](auto const& entry) { return is_old(entry.second.losses.back()); });
  record& of = hosts_[host];
  std::erase_if(of.losses, is_old);
  of.losses.push_back(now);
  duration wait = wait_min;
  for (std::size_t i = losses_allowed; i < of.losses.size() && wait < wait_max; ++i) wait *= 2;
  if (of.losses.size() >= losses_allowed) of.until = now + std::min(wait, wait_max);
}

time_point host_backoff::until(std::string const& host) const {
  auto const at = hosts_.find(host);
  return at == hosts_.end() ? time_point{} : at->second.until;
}

}  // namespace coxswain::core
