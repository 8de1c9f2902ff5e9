#include "terminal/error_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

// A reader that has gone does not end us.
class sigpipe_ignored {
 public:
  sigpipe_ignored() {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignored, &before_);
  }
  ~sigpipe_ignored() { ::sigaction(SIGPIPE, &before_, nullptr); }
  sigpipe_ignored(sigpipe_ignored const&) = delete;
  sigpipe_ignored& operator=(sigpipe_ignored const&) = delete;

 private:
  struct sigaction before_ {};
};

// Zero, or an errno.
int write_all(int to, std::string_view text) noexcept {
  sigpipe_ignored const meanwhile;
  while (!text.empty()) {
    auto const count = ::write(to, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      // Another process that shares it has made it non-blocking.
      pollfd waited{to, POLLOUT, 0};
      ::poll(&waited, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void write_error(std::string const& text) noexcept { write_all(STDERR_FILENO, text); }

void write_report(std::string const& text) noexcept {
  static bool has_lost{};
  int const problem = write_all(STDOUT_FILENO, text);
  if (problem == 0 || std::exchange(has_lost, true)) return;
  write_error(std::string{"coxswain: standard output cannot be written: "} +
              std::strerror(problem) + "; going on without\n");
}

void open_standard_descriptors() noexcept {
  for (int const fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // It gets the lowest free number.
    ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace coxswain::tools
