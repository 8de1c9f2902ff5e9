#include "address.hpp"

#include "bench_error.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>
#include <sys/un.h>

namespace coxswain::bench {
namespace {

constexpr std::string_view unix_prefix = "unix:";
constexpr std::uint32_t loopback_net = 127;
constexpr std::uint32_t sources_max = 250;
constexpr int connect_seconds_max = 30;

[[noreturn]] void refuse_address(std::string const& text, std::string_view why) {
  refuse(
      "'{}' {}: give an address of this machine, such as 127.0.0.1:7000, [::1]:7000 or unix:/path",
      text, why);
}

in_addr_t ipv4_loopback(std::uint32_t last_byte) { return htonl(loopback_net << 24 | last_byte); }

}  // namespace

address::address(std::string const& text) : text_{text} {
  if (text.starts_with(unix_prefix)) {
    set_path(text.substr(unix_prefix.size()));
    return;
  }
  auto const colon = text.rfind(':');
  if (colon == std::string::npos || !set_port(text.substr(0, colon), text.substr(colon + 1))) {
    refuse_address(text, "is no address");
  }
  auto const* v4 = reinterpret_cast<sockaddr_in const*>(&name_);
  auto const* v6 = reinterpret_cast<sockaddr_in6 const*>(&name_);
  bool const here = is_ipv4() ? ntohl(v4->sin_addr.s_addr) >> 24 == loopback_net
                              : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) != 0;
  if (!here) refuse_address(text, "is not on the loopback interface");
}

bool address::set_port(std::string const& host, std::string const& port) {
  std::uint16_t number = 0;
  auto const parsed = std::from_chars(port.data(), port.data() + port.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != port.data() + port.size()) return false;

  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&name_);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(number);
    size_ = sizeof *v6;
    return inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6->sin6_addr) == 1;
  }
  auto* v4 = reinterpret_cast<sockaddr_in*>(&name_);
  v4->sin_family = AF_INET;
  v4->sin_port = htons(number);
  size_ = sizeof *v4;
  auto const numeric = host == "localhost" ? std::string{"127.0.0.1"} : host;
  return inet_pton(AF_INET, numeric.c_str(), &v4->sin_addr) == 1;
}

void address::set_path(std::string const& path) {
  auto* local = reinterpret_cast<sockaddr_un*>(&name_);
  if (path.empty() || path.size() >= sizeof local->sun_path) {
    refuse_address(text_, fmt::format("needs a path of 1 to {} bytes", sizeof local->sun_path - 1));
  }
  local->sun_family = AF_UNIX;
  std::memcpy(local->sun_path, path.data(), path.size());
  size_ = sizeof *local;
}

net::descriptor address::listen() {
  net::descriptor listener{
      ::socket(name_.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  auto const failed = [this] { return system_failure("cannot listen on " + text_); };
  if (listener.value() < 0 || ::bind(listener.value(), raw(), size_) != 0 ||
      ::listen(listener.value(), SOMAXCONN) != 0) {
    throw failed();
  }
  if (is_unix()) return listener;
  if (::getsockname(listener.value(), reinterpret_cast<sockaddr*>(&name_), &size_) != 0) {
    throw failed();
  }
  auto const port = is_ipv4() ? reinterpret_cast<sockaddr_in const*>(&name_)->sin_port
                              : reinterpret_cast<sockaddr_in6 const*>(&name_)->sin6_port;
  text_ = fmt::format("{}:{}", text_.substr(0, text_.rfind(':')), ntohs(port));
  return listener;
}

net::descriptor connector::connect() {
  for (; source_ <= sources_max; ++source_) {
    net::descriptor made{::socket(to_.name_.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (made.value() < 0) throw system_failure("cannot make another socket");
    auto const problem = try_connect(made.value());
    if (problem == 0) return made;
    bool const next_source = problem == EADDRNOTAVAIL && to_.is_ipv4();
    if (next_source) continue;
    bool const too_slow = problem == EAGAIN || problem == EINPROGRESS;
    auto const why = too_slow ? fmt::format("it did not accept within {} s", connect_seconds_max)
                              : std::generic_category().message(problem);
    throw bench_error{fmt::format("cannot connect to {}: {}", to_.text(), why),
                      exit_code::unavailable};
  }
  throw bench_error{
      fmt::format("cannot connect to {}: the ports of {} source addresses are used up", to_.text(),
                  sources_max)};
}

// Zero, or the errno of what failed.
int connector::try_connect(int fd) const {
  int const on = 1;
  timeval const longest{connect_seconds_max, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
  if (!to_.is_unix()) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (source_ > 0) {
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_addr.s_addr = ipv4_loopback(source_);
    // The port is chosen at connect, so that it need only be unused towards this one destination.
    ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (::bind(fd, reinterpret_cast<sockaddr const*>(&from), sizeof from) != 0) return errno;
  }
  return ::connect(fd, to_.raw(), to_.size_) == 0 ? 0 : errno;
}

}  // namespace coxswain::bench
