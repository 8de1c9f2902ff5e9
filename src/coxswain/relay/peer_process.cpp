#include "coxswain/relay/peer_process.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace coxswain::relay {
namespace {

#ifdef SO_PEERPIDFD
constexpr int peer_pidfd = SO_PEERPIDFD;
#else
constexpr int peer_pidfd = 77;
#endif

// When it started, in ticks since boot.
std::optional<std::uint64_t> start_of(pid_t process) {
  constexpr int fields_before = 19;  // after the name, which may have spaces and parentheses
  std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  std::istringstream rest{line.substr(line.rfind(')') + 1)};
  std::string skipped;
  for (int i = 0; i < fields_before; ++i) rest >> skipped;
  std::uint64_t ticks{};
  return rest >> ticks ? std::optional{ticks} : std::nullopt;
}

std::uint64_t ticks_since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  auto const per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(now.tv_sec) * per_second +
         static_cast<std::uint64_t>(now.tv_nsec) * per_second / 1'000'000'000;
}

}  // namespace

peer_process process_of(int socket) {
  int found = -1;
  socklen_t size = sizeof(found);
  if (::getsockopt(socket, SOL_SOCKET, peer_pidfd, &found, &size) == 0) {
    return {net::descriptor{found}, false};
  }
  if (errno == ESRCH) return {{}, true};
  return process_by_number(socket);
}

// If the process ended before it was accepted, its number may be that of another one, whose end
// then means nothing. But the socket's end was seen before.
peer_process process_by_number(int socket) {
  auto const accepted = ticks_since_boot();
  ucred who{};
  socklen_t size = sizeof(who);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.pid <= 0) return {};
  net::descriptor found{static_cast<int>(::syscall(SYS_pidfd_open, who.pid, 0))};
  if (!found) return {{}, errno == ESRCH};
  auto const start = start_of(who.pid);
  if (!start || *start > accepted) return {};
  return {std::move(found), false};
}

}  // namespace coxswain::relay
