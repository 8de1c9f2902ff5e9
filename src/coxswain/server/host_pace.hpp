#pragma once
// How often the peers of one host may do something that is costly or dangerous: begin a TLS
// handshake, which costs as much as a hundred barriers, or learn that a token is wrong. Those that
// come too fast wait; those of other hosts do not. Time is an argument.

#include "coxswain/base/time.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace coxswain::server {

// So many peers of one host learn in a second that their token is wrong; others wait for it, at
// most so long.
inline constexpr std::size_t wrong_tokens_per_second_max = 10;
inline constexpr duration slowed_max = 10s;

class host_pace {
 public:
  // So many a second on the average, at least one, of which a tenth may come at once.
  explicit host_pace(std::size_t per_second_max);

  // `now` if a peer of `host` may do it now, which then counts; else when to ask again.
  [[nodiscard]] time_point begin(time_point now, std::string_view host);

  // How many hosts are remembered: none that could begin as many at once as one that never came.
  [[nodiscard]] std::size_t hosts() const noexcept { return next_.size(); }

 private:
  void forget_rested(time_point now);

  duration interval_;
  duration burst_;
  std::unordered_map<std::string, time_point> next_;  // if all kept to the interval exactly
  std::size_t look_at_{1024};                         // hosts, until the rested ones are looked for
};

}  // namespace coxswain::server
