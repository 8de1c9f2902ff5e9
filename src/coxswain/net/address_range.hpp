#pragma once
// Ranges of IP addresses, as in "10.0.0.0/8" or "fd00::/8"; one address is a range, too.

#include "coxswain/base/status.hpp"
#include "coxswain/net/endpoint.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace coxswain::net {

class address_range {
 public:
  // INVALID_ARGUMENT: it is no address, or the number of bits is none or too large.
  [[nodiscard]] static result<address_range> parse(std::string_view text);

  // An IPv4 address that comes to an IPv6 socket counts as IPv4, which is in no range of IPv6, not
  // even ::/0. Unix sockets are in no range.
  [[nodiscard]] bool contains(socket_address const& address) const noexcept;

 private:
  std::array<std::uint8_t, 16> bytes_{};  // IPv4 as ::ffff:a.b.c.d
  unsigned bits_{};
};

}  // namespace coxswain::net
