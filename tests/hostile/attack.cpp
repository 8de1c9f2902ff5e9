#include "tests/hostile/attack.hpp"

#include "coxswain/net/asio.hpp"
#include "coxswain/wire/codec.hpp"

#include <boost/test/unit_test.hpp>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <thread>
#include <utility>

namespace coxswain::hostile {
namespace {

// This many messages are encoded and written at once.
constexpr std::size_t batch_bytes = 256 * 1024;

asio::ip::tcp::socket dial(asio::io_context& io, std::string const& address) {
  auto const port = static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
  asio::ip::tcp::socket s{io};
  boost::system::error_code problem;
  s.connect({asio::ip::address_v4::loopback(), port}, problem);
  if (problem) ::_exit(1);
  s.non_blocking(true);
  return s;
}

std::string hello(std::string const& token) {
  core::hello_args args{.token = token, .label = "attacker"};
  std::string bytes;
  wire::append_frame(bytes, {{}, 0, std::nullopt, std::move(args)});
  return bytes;
}

// Returns when the coordinator has ended the connection.
void run(int socket, attacker const& by) {
  std::string bytes = (by.role.empty() ? "" : hello(by.role)) + by.first;
  std::string_view unsent = bytes;
  std::array<char, 64 * 1024> ignored;
  for (std::uint64_t n = 0;;) {
    if (unsent.empty() && n < by.most) {
      bytes.clear();
      while (n < by.most && bytes.size() < batch_bytes) wire::append_frame(bytes, by.next(++n));
      unsent = bytes;
    }
    pollfd one{socket, static_cast<short>((by.reads ? POLLIN : 0) | (unsent.empty() ? 0 : POLLOUT)),
               0};
    ::poll(&one, 1, -1);
    if ((one.revents & (POLLERR | POLLHUP)) != 0) return;
    if ((one.revents & POLLIN) != 0 && ::recv(socket, ignored.data(), ignored.size(), 0) == 0) {
      return;
    }
    if ((one.revents & POLLOUT) == 0) continue;
    auto const sent = ::send(socket, unsent.data(), unsent.size(), MSG_NOSIGNAL);
    if (sent > 0) unsent.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

core::client_message numbered(std::uint64_t n, core::request what) {
  return {request_id{n}, 0, std::nullopt, std::move(what)};
}

attack::attack(std::string const& address, std::vector<attacker> by) {
  pid_ = ::fork();
  BOOST_TEST_REQUIRE(pid_ >= 0);
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  static_cast<void>(::nice(19));
  asio::io_context io;
  std::vector<std::thread> threads;
  for (auto const& one : by) {
    threads.emplace_back([&io, &address, &one] {
      do {
        auto socket = dial(io, address);
        run(socket.native_handle(), one);
      } while (one.returns);
      ::_exit(1);
    });
  }
  for (auto& one : threads) one.join();
  ::_exit(1);
}

attack::~attack() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool attack::goes_on() {
  if (pid_ != 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
  return pid_ != 0;
}

}  // namespace coxswain::hostile
