#pragma once
// A process with a TCP connection, of this user or of another one, which only root can start.

#include <boost/test/tree/decorator.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>

namespace coxswain::net {

constexpr uid_t nobody = 65534;

inline boost::test_tools::assertion_result is_root(boost::unit_test::test_unit_id) {
  return ::geteuid() == 0;
}

class peer_process {
 public:
  // Connects `times` to the address.
  peer_process(uid_t user, sockaddr const* to, socklen_t size, int times = 1) {
    std::array<int, 2> ends{};
    BOOST_TEST_REQUIRE(::pipe(ends.data()) == 0);
    child_ = ::fork();
    if (child_ == 0) connect(user, to, size, times, ends[1]);
    ::close(ends[1]);
    char made{};
    bool const is_connected = ::read(ends[0], &made, 1) == 1;
    ::close(ends[0]);
    BOOST_TEST_REQUIRE(is_connected);
  }
  peer_process(peer_process const&) = delete;
  peer_process& operator=(peer_process const&) = delete;
  ~peer_process() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

 private:
  // In the child.
  [[noreturn]] static void connect(uid_t user, sockaddr const* to, socklen_t size, int times,
                                   int made) {
    if (user != ::geteuid() && ::setresuid(user, user, user) != 0) ::_exit(1);
    for (int i = 0; i < times; ++i) {
      int const one = ::socket(to->sa_family, SOCK_STREAM, 0);
      if (::connect(one, to, size) != 0) ::_exit(1);
    }
    if (::write(made, "c", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }

  pid_t child_{};
};

}  // namespace coxswain::net
