#include "coxswain/net/address_range.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

namespace coxswain::net {
namespace {

using address_bytes = std::array<std::uint8_t, 16>;

constexpr unsigned bits_of_v6 = 128;
constexpr unsigned mapped_bits = 96;

address_bytes mapped(in_addr const& v4) {
  address_bytes made{};
  made[10] = made[11] = 0xff;
  std::memcpy(made.data() + 12, &v4, sizeof(v4));
  return made;
}

status refusal(std::string_view text) {
  std::string why{"invalid address range '"};
  why.append(text.substr(0, 200))
      .append("'; expected one such as 10.0.0.0/8 or fd00::/8, or a single address");
  return {errc::invalid_argument, std::move(why)};
}

}  // namespace

result<address_range> address_range::parse(std::string_view text) {
  if (text.find('\0') != text.npos) return refusal(text.substr(0, text.find('\0')));
  auto const slash = text.find('/');
  std::string const address{text.substr(0, slash)};
  address_range made;
  in_addr v4{};
  unsigned before = 0;
  if (::inet_pton(AF_INET, address.c_str(), &v4) == 1) {
    made.bytes_ = mapped(v4);
    before = mapped_bits;
  } else if (::inet_pton(AF_INET6, address.c_str(), made.bytes_.data()) != 1) {
    return refusal(text);
  }
  made.bits_ = bits_of_v6;
  if (slash == text.npos) return made;
  auto const digits = text.substr(slash + 1);
  unsigned bits = 0;
  auto const* const end = digits.data() + digits.size();
  auto const parsed = std::from_chars(digits.data(), end, bits);
  bool const is_number = parsed.ec == std::errc{} && parsed.ptr == end && !digits.empty();
  if (!is_number || bits > bits_of_v6 - before) return refusal(text);
  made.bits_ = before + bits;
  return made;
}

bool address_range::contains(socket_address const& address) const noexcept {
  address_bytes bytes{};
  if (address.family() == AF_INET) {
    bytes = mapped(reinterpret_cast<sockaddr_in const*>(address.data())->sin_addr);
  } else if (address.family() == AF_INET6) {
    std::memcpy(bytes.data(), &reinterpret_cast<sockaddr_in6 const*>(address.data())->sin6_addr,
                bytes.size());
  } else {
    return false;
  }
  bool const is_v4 = std::equal(bytes.begin(), bytes.begin() + mapped_bits / 8, mapped({}).begin());
  if (is_v4 && bits_ < mapped_bits) return false;
  auto const whole = bits_ / 8;
  if (!std::equal(bytes.begin(), bytes.begin() + whole, bytes_.begin())) return false;
  auto const rest = bits_ % 8;
  return rest == 0 || (bytes[whole] ^ bytes_[whole]) >> (8 - rest) == 0;
}

}  // namespace coxswain::net
