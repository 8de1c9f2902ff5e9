#include "coxswain/net/endpoint.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace coxswain::net {
namespace {

constexpr std::string_view unix_prefix = "unix:";

status malformed(std::string_view text, std::string_view wrong) {
  return {errc::invalid_argument,
          "The address '" + std::string{text} + "' " + std::string{wrong} +
              ". Expected host:port, [v6]:port, :port (all addresses) or unix:/path."};
}

std::optional<std::uint16_t> port_of(std::string_view digits) {
  std::uint16_t port{};
  auto const* const end = digits.data() + digits.size();
  auto const parsed = std::from_chars(digits.data(), end, port);
  if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return port;
}

bool is_loopback(in_addr const& address) noexcept { return ntohl(address.s_addr) >> 24 == 127; }

in_addr mapped(in6_addr const& address) noexcept {
  in_addr v4{};
  std::memcpy(&v4, address.s6_addr + 12, sizeof(v4));
  return v4;
}

sockaddr_in without_mapping(sockaddr_in6 const& address) noexcept {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = address.sin6_port;
  v4.sin_addr = mapped(address.sin6_addr);
  return v4;
}

// For each connection that is accepted; getnameinfo takes ten times as long.
std::string numeric(sockaddr_in const& address) {
  std::array<std::uint8_t, 4> numbers;
  std::memcpy(numbers.data(), &address.sin_addr, numbers.size());
  std::array<char, std::string_view{"255.255.255.255:65535"}.size()> text;
  char* end = text.data();
  for (unsigned const number : numbers) {
    end = std::to_chars(end, text.data() + text.size(), number).ptr;
    *end++ = '.';
  }
  end[-1] = ':';
  end = std::to_chars(end, text.data() + text.size(), ntohs(address.sin_port)).ptr;
  return {text.data(), end};
}

std::string numeric(sockaddr const* address, socklen_t size) {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (::getnameinfo(address, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?";
  }
  bool const v6 = address->sa_family == AF_INET6;
  std::string text{v6 ? "[" : ""};
  return text.append(host).append(v6 ? "]:" : ":").append(port);
}

using found_addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Null, and the resolver's error, if there are none.
std::pair<found_addresses, int> look_up(char const* host, std::string const& port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  int const failure = ::getaddrinfo(host, port.c_str(), &hints, &found);
  return {found_addresses{failure == 0 ? found : nullptr, &::freeaddrinfo}, failure};
}

socket_address any_address(sa_family_t family, std::uint16_t port) {
  if (family == AF_INET6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    return {reinterpret_cast<sockaddr const*>(&address), sizeof(address)};
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  return {reinterpret_cast<sockaddr const*>(&address), sizeof(address)};
}

socket_address unix_address(std::string const& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  auto const size = offsetof(sockaddr_un, sun_path) + path.size() + 1;
  return {reinterpret_cast<sockaddr const*>(&address), static_cast<socklen_t>(size)};
}

}  // namespace

socket_address::socket_address(sockaddr const* content, socklen_t size) noexcept
    : size_{std::min(size, static_cast<socklen_t>(sizeof(storage_)))} {
  std::memcpy(&storage_, content, size_);
}

result<socket_address> socket_address::local(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    return status{errc::unavailable, std::string{"No local address: "} + std::strerror(errno)};
  }
  return socket_address{reinterpret_cast<sockaddr const*>(&storage), size};
}

result<socket_address> socket_address::peer(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    return status{errc::unavailable, std::string{"No peer address: "} + std::strerror(errno)};
  }
  return socket_address{reinterpret_cast<sockaddr const*>(&storage), size};
}

bool socket_address::is_private() const noexcept {
  if (family() == AF_UNIX) return true;
  if (family() == AF_INET) {
    return is_loopback(reinterpret_cast<sockaddr_in const*>(&storage_)->sin_addr);
  }
  if (family() != AF_INET6) return false;
  auto const& address = reinterpret_cast<sockaddr_in6 const*>(&storage_)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address)) return is_loopback(mapped(address));
  return IN6_IS_ADDR_LOOPBACK(&address);
}

std::string socket_address::text() const {
  if (family() == AF_UNIX) {
    auto const& address = reinterpret_cast<sockaddr_un const&>(storage_);
    auto const room = size_ - std::min<std::size_t>(size_, offsetof(sockaddr_un, sun_path));
    return std::string{unix_prefix}.append(address.sun_path, ::strnlen(address.sun_path, room));
  }
  if (family() == AF_INET6) {
    auto const& address = reinterpret_cast<sockaddr_in6 const&>(storage_);
    if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
      return numeric(without_mapping(address));
    }
  }
  if (family() == AF_INET) return numeric(reinterpret_cast<sockaddr_in const&>(storage_));
  return numeric(data(), size_);
}

result<endpoint> endpoint::parse(std::string_view text) {
  endpoint parsed;
  if (text.substr(0, unix_prefix.size()) == unix_prefix) {
    auto const path = text.substr(unix_prefix.size());
    if (path.empty() || path.front() != '/') return malformed(text, "has no absolute path");
    if (path.find('\0') != path.npos) return malformed(text, "has a NUL byte in its path");
    if (path.size() >= sizeof(sockaddr_un::sun_path)) {
      return malformed(text, "has a path of " + std::to_string(path.size()) +
                                 " bytes, but a Unix socket's may have 107");
    }
    parsed.path_ = path;
    return parsed;
  }
  if (auto const mark = text.find("://"); mark != text.npos) {
    auto const rest = text.substr(mark + 3);
    return malformed(text, "is a URL; write '" + std::string{rest.substr(0, rest.find('/'))} +
                               "' without '" + std::string{text.substr(0, mark + 3)} + "'");
  }
  auto const colon = text.rfind(':');
  if (colon == text.npos || (!text.empty() && text.back() == ']')) {
    return malformed(text, "has no port");
  }
  auto const port = port_of(text.substr(colon + 1));
  if (!port) return malformed(text, "has no port between 0 and 65535 after its last colon");
  auto host = text.substr(0, colon);
  if (!host.empty() && host.front() == '[') {
    if (host.size() < 4 || host.back() != ']' || host.find(':') == host.npos) {
      return malformed(text, "has no IPv6 address in its brackets");
    }
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != host.npos) {
    return malformed(text, "has an IPv6 address without brackets, or too many colons");
  }
  if (host.find_first_of(std::string_view{"[]/ \t\n\0", 7}) != host.npos) {
    return malformed(text, "has a character in its host that no host has");
  }
  parsed.host_ = host;
  parsed.port_ = *port;
  return parsed;
}

result<std::vector<endpoint>> endpoint::parse_list(std::string_view text) {
  std::vector<endpoint> all;
  for (;;) {
    auto const end = text.find(',');
    auto endpoint = parse(text.substr(0, end));
    if (!endpoint) return endpoint.error();
    if (std::find(all.begin(), all.end(), *endpoint) == all.end())
      all.push_back(*std::move(endpoint));
    if (end == text.npos) return all;
    text.remove_prefix(end + 1);
  }
}

std::string endpoint::text() const {
  if (is_unix()) return std::string{unix_prefix} + path_;
  bool const v6 = host_.find(':') != host_.npos;
  return (v6 ? "[" + host_ + "]:" : host_ + ":") + std::to_string(port_);
}

bool endpoint::is_private() const {
  if (is_unix() || host_ == "localhost") return true;
  if (host_.empty()) return false;
  auto const [found, failure] = look_up(host_.c_str(), std::to_string(port_), AI_NUMERICHOST);
  return found && socket_address{found->ai_addr, found->ai_addrlen}.is_private();
}

result<std::vector<socket_address>> endpoint::resolve(purpose why) const {
  if (is_unix()) return std::vector{unix_address(path_)};
  if (host_.empty() && why == purpose::listen) {
    return std::vector{any_address(AF_INET6, port_), any_address(AF_INET, port_)};
  }
  auto const host = host_.empty() ? std::string{"localhost"} : host_;
  auto const [found, failure] = look_up(host.c_str(), std::to_string(port_), 0);
  if (!found) {
    return status{errc::unavailable, "The host name '" + host + "' of '" + text() +
                                         "' cannot be resolved: " + ::gai_strerror(failure) + "."};
  }
  std::vector<socket_address> addresses;
  for (auto const* address = found.get(); address != nullptr; address = address->ai_next) {
    addresses.emplace_back(address->ai_addr, address->ai_addrlen);
  }
  return addresses;
}

}  // namespace coxswain::net
