#include "load/address.hpp"

#include "bench_error.hpp"

#include <cerrno>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>

namespace coxswain::bench {
namespace {

constexpr std::uint32_t loopback_net = 127;
constexpr std::uint32_t sources_max = 250;
constexpr int connect_seconds_max = 30;

net::socket_address resolved(std::string const& text) {
  auto const parsed = net::endpoint::parse(text);
  if (!parsed || !parsed->is_private()) {
    refuse(
        "'{}' {}: give an address of this machine, such as 127.0.0.1:7000, [::1]:7000 or "
        "unix:/path",
        text, parsed ? "is not on the loopback interface" : "is no address");
  }
  auto const found = parsed->resolve(net::endpoint::purpose::connect);
  if (!found) throw bench_error{found.error().text(), exit_code::unavailable};
  for (auto const& one : *found) {
    if (one.family() == AF_INET) return one;  // if localhost has several
  }
  return found->front();
}

}  // namespace

address::address(std::string const& text) : text_{text}, name_{resolved(text)} {}

net::descriptor address::listen() {
  net::descriptor listener{::socket(name_.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!listener || ::bind(listener.value(), name_.data(), name_.size()) != 0 ||
      ::listen(listener.value(), SOMAXCONN) != 0) {
    throw system_failure("cannot listen on " + text_);
  }
  name_ = net::socket_address::local(listener.value()).value();
  text_ = name_.text();
  return listener;
}

net::descriptor connector::connect() {
  for (; source_ <= sources_max; ++source_) {
    net::descriptor made{::socket(to_.name().family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (made.value() < 0) throw system_failure("cannot make another socket");
    auto const problem = try_connect(made.value());
    if (problem == 0) return made;
    bool const next_source = problem == EADDRNOTAVAIL && to_.name().family() == AF_INET;
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

// Zero, or the errno of the failure.
int connector::try_connect(int fd) const {
  int const on = 1;
  timeval const longest{connect_seconds_max, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
  if (!to_.is_unix()) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (source_ > 0) {
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl(loopback_net << 24 | source_);
    // The port is chosen at connect, so that it need only be unused towards this one destination.
    ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (::bind(fd, reinterpret_cast<sockaddr const*>(&from), sizeof from) != 0) return errno;
  }
  return ::connect(fd, to_.name().data(), to_.name().size()) == 0 ? 0 : errno;
}

}  // namespace coxswain::bench
