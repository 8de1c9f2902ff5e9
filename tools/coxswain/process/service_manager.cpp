#include "process/service_manager.hpp"

#include "coxswain/net/descriptor.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

namespace coxswain::tools {
namespace {

constexpr int first_inherited = 3;

std::string variable(char const* name) {
  auto const* const value = std::getenv(name);
  return value == nullptr ? std::string{} : value;
}

std::optional<std::int64_t> number(char const* name) {
  auto const text = variable(name);
  std::int64_t value{};
  auto const* const end = text.data() + text.size();
  auto const parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return value;
}

// Without the variable any process may read the message.
bool is_for_us(char const* pid_variable) {
  return number(pid_variable).value_or(::getpid()) == ::getpid();
}

// A leading @ stands for the NUL of the abstract namespace.
std::optional<std::pair<sockaddr_un, socklen_t>> address_of(std::string const& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';
  auto const size = offsetof(sockaddr_un, sun_path) + path.size();
  return std::pair{address, static_cast<socklen_t>(size)};
}

}  // namespace

std::vector<std::string> inherited_listeners() {
  auto const count = number("LISTEN_FDS").value_or(0);
  std::vector<std::string> addresses;
  if (!number("LISTEN_PID") || !is_for_us("LISTEN_PID")) return addresses;
  for (std::int64_t i = 0; i < count; ++i) {
    addresses.push_back("fd://" + std::to_string(first_inherited + i));
  }
  return addresses;
}

service_manager::service_manager(asio::io_context& io)
    : socket_path_{variable("NOTIFY_SOCKET")}, timer_{io} {
  if (is_for_us("WATCHDOG_PID"))
    watchdog_ = std::chrono::microseconds{number("WATCHDOG_USEC").value_or(0)};
}

void service_manager::ready(std::string const& status) {
  notify("READY=1\nSTATUS=" + status);
  if (watchdog_ > duration{} && !socket_path_.empty()) feed_watchdog();
}

void service_manager::starting(std::string const& status, duration more) {
  auto const us = std::chrono::duration_cast<std::chrono::microseconds>(more).count();
  notify("EXTEND_TIMEOUT_USEC=" + std::to_string(us) + "\nSTATUS=" + status);
}

void service_manager::stopping(std::string const& why) { notify("STOPPING=1\nSTATUS=" + why); }

void service_manager::notify(std::string const& what) const noexcept {
  auto const to = address_of(socket_path_);
  if (!to) return;
  net::descriptor const socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!socket) return;
  ::sendto(socket.value(), what.data(), what.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
           reinterpret_cast<sockaddr const*>(&to->first), to->second);
}

// Twice within the time, as systemd recommends.
void service_manager::feed_watchdog() {
  notify("WATCHDOG=1");
  timer_.expires_after(watchdog_ / 2);
  timer_.async_wait([this](boost::system::error_code problem) {
    if (!problem) feed_watchdog();
  });
}

}  // namespace coxswain::tools
