#include "child/supervisor.hpp"

#include "options/exit_code.hpp"

#include "coxswain/net/signals_blocked.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace coxswain::tools {
namespace {

[[noreturn]] void fail(int problem) {
  throw program_error{exit_code::failed,
                      std::string{"cannot start another process: "} + std::strerror(problem)};
}

// What `ps` shows of us, in place: the arguments are one block that begins with the program's name.
void forget_arguments() {
  int const file = ::open("/proc/self/cmdline", O_RDONLY);
  char* at = program_invocation_name;
  std::array<char, 512> shown;
  ssize_t count{};
  while ((count = ::read(file, shown.data(), shown.size())) > 0) {
    auto const size = static_cast<std::size_t>(count);
    if (std::memcmp(at, shown.data(), size) != 0) return;
    std::memset(at, 0, size);
    at += size;
  }
}

// After a fork of a process that may have threads: nothing here allocates.
[[noreturn]] void supervise(int life, std::span<supervisor::group> groups) {
  ::setsid();
  ::prctl(PR_SET_NAME, "supervisor");
  forget_arguments();
  // Nothing of ours stays open or in use for its sake.
  ::close_range(0, static_cast<unsigned>(life) - 1, 0);
  ::close_range(static_cast<unsigned>(life) + 1, ~0U, 0);
  [[maybe_unused]] int const moved = ::chdir("/");
  char ignored{};
  while (::read(life, &ignored, 1) < 0 && errno == EINTR) continue;
  for (auto const& one : groups) {
    if (pid_t const group = one.load(); group > 0) ::kill(-group, SIGKILL);
  }
  ::_exit(0);
}

}  // namespace

supervisor::supervisor(std::size_t groups_max) {
  auto* const shared = ::mmap(nullptr, groups_max * sizeof(group), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) fail(errno);
  groups_ = {static_cast<group*>(shared), groups_max};  // zeros
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(errno);
  net::descriptor const reading{ends[0]};
  life_ = net::descriptor{ends[1]};
  net::signals_blocked const for_ever_there;
  pid_ = ::fork();
  if (pid_ == 0) supervise(reading.value(), groups_);
  if (pid_ < 0) fail(errno);
}

supervisor::~supervisor() {
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  ::munmap(groups_.data(), groups_.size_bytes());
}

}  // namespace coxswain::tools
