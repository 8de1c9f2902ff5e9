// Peers that never become clients: they take no connection slots or descriptors from those that do.

#include "coxswain/client/blocking_client.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/socket.hpp"
#include "tests/certificates/authority.hpp"
#include "tests/faults/cut_proxy.hpp"
#include "tests/hostile/coordinator_process.hpp"
#include "tests/hostile/quiet_job.hpp"

#include <boost/test/unit_test.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <thread>

namespace coxswain::hostile {
namespace {

constexpr std::size_t tasks = 50;
constexpr int attempts = 10;  // other load of the machine disturbs the job, too

// Repeats an action in a separate process at nice 19. Create it before any threads.
class flood {
 public:
  explicit flood(std::function<void()> const& again) : pid_{::fork()} {
    BOOST_TEST_REQUIRE(pid_ >= 0);
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    static_cast<void>(::nice(19));
    for (;;) again();
  }
  ~flood() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  flood(flood const&) = delete;
  flood& operator=(flood const&) = delete;

 private:
  pid_t pid_;
};

net::socket dial(std::string const& address) {
  auto const where = net::endpoint::parse(address).value();
  auto const at = where.resolve(net::endpoint::purpose::connect).value().front();
  net::socket made{::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
  ::connect(made.value(), at.data(), at.size());
  return made;
}

// The proxy's thread and its io_context.
class cut_line {
 public:
  explicit cut_line(std::string const& to)
      : proxy_{io_, static_cast<std::uint16_t>(std::stoul(to.substr(to.rfind(':') + 1))), 1,
               20'000},
        thread_{[this] {
          asio::co_spawn(io_, proxy_.run(), asio::detached);
          io_.run();
        }} {}
  ~cut_line() {
    asio::post(io_, [this] { proxy_.stop(); });
    asio::post(io_, [this] { io_.stop(); });
    thread_.join();
  }
  cut_line(cut_line const&) = delete;
  cut_line& operator=(cut_line const&) = delete;

  [[nodiscard]] std::string address() const { return proxy_.address(); }

 private:
  asio::io_context io_{1};
  faults::cut_proxy proxy_;
  std::thread thread_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(pending_peers)

// Silent connections try to take more than all slots: cut clients can reconnect, and new clients
// are admitted.
BOOST_AUTO_TEST_CASE(silent_connections_do_not_block_clients) {
  coordinator_process coordinator{tasks, {"--connections-max", "256"}};
  std::deque<net::socket> held;
  flood const silent{[&] {
    held.push_back(dial(coordinator.address()));
    if (held.size() > 900) held.pop_front();
  }};
  cut_line const line{coordinator.address()};
  quiet_job job{line.address(), tasks};

  for (int i = 0; i < attempts && job.reconnects() <= tasks; ++i) job.measure(3s);

  BOOST_TEST(job.reconnects() > tasks);
  for (int i = 0; i < 20; ++i) {
    client_options options{coordinator.address()};
    options.token = "reader";
    options.connect_timeout = 5s;
    BOOST_TEST(blocking_client{options}.num_tasks() == tasks);
  }
  BOOST_TEST((coordinator.ask_livez() < 1s));
}

BOOST_AUTO_TEST_CASE(reset_handshakes_leak_no_descriptors) {
  certificates::authority const trusted;
  auto const shown = trusted.issue({"coordinator"});
  coordinator_process coordinator{
      1, {"--tls-cert", shown.cert, "--tls-key", shown.key, "--handshakes-per-second-max", "10"}};
  auto const before = coordinator.open_descriptors();
  std::size_t most = 0;
  {
    flood const resets{[&] {
      net::socket const one = dial(coordinator.address());
      ::send(one.value(), "\x16\x03\x01\x02", 4, MSG_NOSIGNAL);
      linger const none{1, 0};
      ::setsockopt(one.value(), SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    }};
    for (auto const end = std::chrono::steady_clock::now() + 3s;
         std::chrono::steady_clock::now() < end;) {
      most = std::max(most, coordinator.open_descriptors());
    }
  }

  // More than one iteration of the loop accepts.
  BOOST_TEST(most < before + 300);
  BOOST_TEST(coordinator.is_running());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::hostile
