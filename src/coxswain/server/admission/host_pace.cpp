#include "coxswain/server/admission/host_pace.hpp"

#include <algorithm>

namespace coxswain::server {
namespace {

constexpr std::size_t hosts_min = 1024;

}  // namespace

host_pace::host_pace(std::size_t per_second_max)
    : interval_{duration{1s} /
                static_cast<duration::rep>(std::max<std::size_t>(per_second_max, 1))},
      burst_{std::max(duration{100ms}, interval_)} {}

time_point host_pace::begin(time_point now, std::string_view host) {
  if (next_.size() >= size_to_check_) forget_rested(now);
  auto& next = next_.try_emplace(std::string{host}, time_point::min()).first->second;
  auto const earliest = std::max(next, now - burst_) + interval_;
  if (earliest > now) return earliest;
  next = earliest;
  return now;
}

void host_pace::forget_rested(time_point now) {
  std::erase_if(next_, [&](auto const& entry) { return entry.second <= now - burst_; });
  size_to_check_ = std::max(hosts_min, next_.size() * 2);
}

}  // namespace coxswain::server
