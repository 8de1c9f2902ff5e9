#include "coxswain/net/socket.hpp"

#include "tests/net/sockets.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace coxswain::net {
namespace {

// A forked child that sleeps until the test ends.
class idle_child {
 public:
  idle_child() : id_{::fork()} {
    if (id_ == 0) {
      for (;;) ::pause();
    }
    BOOST_TEST_REQUIRE(id_ > 0);
  }
  ~idle_child() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  idle_child(idle_child const&) = delete;
  idle_child& operator=(idle_child const&) = delete;

 private:
  pid_t id_;
};

// What `look` returns in a forked child.
template <class Look>
int in_child(Look look) {
  pid_t const id = ::fork();
  if (id == 0) ::_exit(look());
  int how = 0;
  BOOST_TEST_REQUIRE(::waitpid(id, &how, 0) == id);
  BOOST_TEST_REQUIRE(WIFEXITED(how));
  return WEXITSTATUS(how);
}

bool is_a_socket(int descriptor) {
  int type = 0;
  socklen_t size = sizeof(type);
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

BOOST_AUTO_TEST_CASE(a_forked_child_does_not_keep_a_connection_open) {
  auto ends = unix_pair();
  idle_child const child;

  ends.first.close();

  wait_for_hang_up(ends.second.value());
  char byte = 0;
  BOOST_TEST(::recv(ends.second.value(), &byte, 1, MSG_DONTWAIT) == 0);
}

BOOST_AUTO_TEST_CASE(a_forked_child_keeps_the_descriptor_number_in_use) {
  auto const ends = unix_pair();
  int const number = ends.first.value();

  BOOST_TEST(in_child([=] { return ::fcntl(number, F_GETFD); }) == FD_CLOEXEC);
  BOOST_TEST(in_child([=] { return is_a_socket(number) ? 1 : 0; }) == 0);
  BOOST_TEST(is_a_socket(number));
}

BOOST_AUTO_TEST_CASE(a_socket_that_moved_is_still_replaced_in_a_child) {
  auto ends = unix_pair();
  socket moved{std::move(ends.first)};
  ends.first = std::move(moved);
  int const number = ends.first.value();

  BOOST_TEST(in_child([=] { return is_a_socket(number) ? 1 : 0; }) == 0);
}

BOOST_AUTO_TEST_CASE(a_new_descriptor_that_reuses_a_closed_number_is_kept) {
  auto ends = unix_pair();
  int const number = ends.first.value();
  ends.first.close();
  descriptor const other{::dup(ends.second.value())};
  BOOST_TEST_REQUIRE(other.value() == number);

  BOOST_TEST(in_child([=] { return is_a_socket(number) ? 1 : 0; }) == 1);
}

BOOST_AUTO_TEST_CASE(a_forked_child_at_its_descriptor_limit_does_not_keep_the_socket) {
  auto const ends = unix_pair();
  int const number = ends.first.value();
  rlimit before{};
  BOOST_TEST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = 0;
  BOOST_TEST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  int const kept = in_child([=] { return is_a_socket(number) ? 1 : 0; });
  BOOST_TEST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);

  BOOST_TEST(kept == 0);
}

}  // namespace
}  // namespace coxswain::net
