#pragma once
// Rate limits per host for costly or dangerous operations: a TLS handshake, which costs as much as
// a hundred barriers, or the reply that a token is wrong. Peers of a host above its rate wait;
// other hosts are not affected. Time is an argument.

#include "coxswain/base/time.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace coxswain::server {

// The number of wrong-token replies per second and host; further ones are delayed, at most this
// long.
inline constexpr std::size_t wrong_tokens_per_second_max = 10;
inline constexpr duration slowed_max = 10s;

class host_pace {
 public:
  // The average rate per second, at least one, with bursts of a tenth of it.
  explicit host_pace(std::size_t per_second_max);

  // `now` if a peer of `host` may do it now, which then counts; else when to ask again.
  [[nodiscard]] time_point begin(time_point now, std::string_view host);

  // How many hosts are remembered: only those below their full burst.
  [[nodiscard]] std::size_t hosts() const noexcept { return next_.size(); }

 private:
  void forget_rested(time_point now);

  duration interval_;
  duration burst_;
  std::unordered_map<std::string, time_point> next_;  // if all kept to the exact interval
  std::size_t size_to_check_{1024};                   // hosts, until the idle ones are removed
};

}  // namespace coxswain::server
