#include "coxswain/relay/relay_service.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/wire/codec.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::relay {

relay_service::relay_service(switchboard& board, std::uint32_t first, duration stalled_max,
                             event_sink log, meter_ptr memory)
    : log_{std::move(log)},
      memory_{std::move(memory)},
      links_{board, first},
      stalled_{stalled_max} {}

std::size_t relay_service::largest_message(core::hello_answer const& terms) {
  constexpr std::size_t beside_value = 1024;
  std::uint64_t const most = terms.value_bytes_max + terms.key_bytes_max + beside_value;
  return std::min<std::uint64_t>(most, wire::message_bytes_max);
}

void relay_service::trunk_up() {
  links_.trunk_up();
  settle();
}

void relay_service::trunk_down() { links_.trunk_down(); }

void relay_service::trunk_over(status const& why) {
  links_.trunk_over(why);
  settle();
}

bool relay_service::route_changed(std::uint32_t route) {
  if (!links_.changed(now_, route)) return false;
  settle();
  return true;
}

void relay_service::read_held_back() {
  if (!links_.has_held_back()) return;
  links_.read_held_back(now_);
  settle();
}

std::optional<std::uint32_t> relay_service::take_stalled() {
  auto const number = stalled_.take(now_);
  if (number && log_) {
    log_(core::severity::warning, "client " + peer_of(*number) + " read nothing for " +
                                      core::in_words(stalled_.most()) +
                                      " while replies were waiting");
  }
  return number;
}

}  // namespace coxswain::relay
