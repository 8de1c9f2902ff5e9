#pragma once
// Addresses to listen on or to connect to: "host:port", "[v6]:port", ":port" or "unix:/path" as
// users write them, and the kernel's socket addresses. Used by server and client.

#include "coxswain/base/status.hpp"

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::net {

// A socket address: IPv4, IPv6 or Unix.
class socket_address {
 public:
  socket_address(sockaddr const* content, socklen_t size) noexcept;

  // The address that the socket is bound to, or that its peer has. UNAVAILABLE: it has none.
  [[nodiscard]] static result<socket_address> local(int socket);
  [[nodiscard]] static result<socket_address> peer(int socket);

  [[nodiscard]] sockaddr const* data() const noexcept {
    return reinterpret_cast<sockaddr const*>(&storage_);
  }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }
  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }

  // Whether only processes of this host can reach it: loopback or Unix.
  [[nodiscard]] bool is_private() const noexcept;

  // "10.0.0.1:80", "[fe80::1%eth0]:80", "unix:/path"; "unix:" if the socket has no name. An IPv4
  // peer of an IPv6 socket is shown as IPv4.
  [[nodiscard]] std::string text() const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_{};
};

class endpoint {
 public:
  // INVALID_ARGUMENT: the text says what is wrong and what is expected.
  [[nodiscard]] static result<endpoint> parse(std::string_view text);

  // Several of them, separated by commas; at least one, each once. No path has a comma then.
  // INVALID_ARGUMENT as above.
  [[nodiscard]] static result<std::vector<endpoint>> parse_list(std::string_view text);

  [[nodiscard]] bool is_unix() const noexcept { return !path_.empty(); }
  // A name or a number without brackets; empty means all addresses of this host, or to a client
  // this host.
  [[nodiscard]] std::string const& host() const noexcept { return host_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string const& path() const noexcept { return path_; }

  // Its text: parse(text()) is the same endpoint.
  [[nodiscard]] std::string text() const;

  // Whether it is a loopback number, "localhost" or a Unix path, reachable from this host only.
  // Names are not looked up.
  [[nodiscard]] bool is_private() const;

  // The addresses to listen on, or to connect to, best first; at least one. Blocks while a name is
  // looked up; numbers are not. UNAVAILABLE: the name cannot be resolved.
  enum class purpose : std::uint8_t { listen, connect };
  [[nodiscard]] result<std::vector<socket_address>> resolve(purpose why) const;

  friend bool operator==(endpoint const&, endpoint const&) = default;

 private:
  std::string host_;
  std::string path_;
  std::uint16_t port_{};
};

}  // namespace coxswain::net
