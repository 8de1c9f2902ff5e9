#pragma once
// The port of an address "host:port".

#include <cstdint>
#include <string>

namespace coxswain::faults {

[[nodiscard]] inline std::uint16_t port_of(std::string const& address) {
  return static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
}

}  // namespace coxswain::faults
