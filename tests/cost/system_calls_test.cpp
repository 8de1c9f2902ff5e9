// The system calls of a server that waits for each request: it sleeps, reads and writes once.

#include "coxswain/server/server.hpp"
#include "tests/server/raw_client.hpp"

#include <boost/test/unit_test.hpp>

#include <dlfcn.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace {

// Of the threads that are counted.
struct call_counts {
  std::atomic<std::uint64_t> sleeps, reads, writes, others;
};
call_counts made;
thread_local bool is_counted = false;

// The function of this name in the system's library.
template <class Function>
Function* counted(std::atomic<std::uint64_t>& as, char const* name) {
  if (is_counted) ++as;
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// These replace the system's in this program.
extern "C" {
int epoll_wait(int fd, epoll_event* events, int most, int milliseconds) {
  return counted<decltype(::epoll_wait)>(made.sleeps, "epoll_wait")(fd, events, most, milliseconds);
}
int epoll_ctl(int fd, int what, int on, epoll_event* event) noexcept {
  return counted<decltype(::epoll_ctl)>(made.others, "epoll_ctl")(fd, what, on, event);
}
int timerfd_settime(int fd, int flags, itimerspec const* to, itimerspec* old) noexcept {
  return counted<decltype(::timerfd_settime)>(made.others, "timerfd_settime")(fd, flags, to, old);
}
ssize_t recv(int fd, void* into, size_t most, int flags) {
  return counted<decltype(::recv)>(made.reads, "recv")(fd, into, most, flags);
}
ssize_t recvmsg(int fd, msghdr* into, int flags) {
  return counted<decltype(::recvmsg)>(made.reads, "recvmsg")(fd, into, flags);
}
ssize_t read(int fd, void* into, size_t most) {
  return counted<decltype(::read)>(made.reads, "read")(fd, into, most);
}
ssize_t send(int fd, void const* from, size_t count, int flags) {
  return counted<decltype(::send)>(made.writes, "send")(fd, from, count, flags);
}
ssize_t sendmsg(int fd, msghdr const* from, int flags) {
  return counted<decltype(::sendmsg)>(made.writes, "sendmsg")(fd, from, flags);
}
ssize_t write(int fd, void const* from, size_t count) {
  return counted<decltype(::write)>(made.writes, "write")(fd, from, count);
}
}

namespace coxswain::cost {
namespace {

constexpr std::uint64_t frames = 400;

// A server that owns its loop, on a thread of its own, and one task.
class served_job {
 public:
  served_job() {
    BOOST_TEST(client_.greet().num_tasks == 1u);
    BOOST_TEST(client_.ask(server::join_frame(1, 0)).what.outcome.ok());
  }
  ~served_job() {
    client_.ask(server::frame(core::leave_args{}, ++last_, task_id{0}));
    client_.goodbye();
    client_.close();
    thread_.join();
  }

  using make_request = std::function<std::string(std::uint64_t id)>;

  // Sends it this often, each time after the answer to the one before.
  void ask(make_request const& request, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
      BOOST_TEST_REQUIRE(client_.ask(request(++last_)).what.outcome.ok());
    }
  }

  // The calls for each frame, once the first ones have been answered.
  struct each {
    double sleeps, reads, writes, others;
  };
  each calls_for(make_request const& request) {
    ask(request, 20);
    for (auto* const one : {&made.sleeps, &made.reads, &made.writes, &made.others}) *one = 0;
    ask(request, frames);
    auto const of = [](std::uint64_t count) { return static_cast<double>(count) / frames; };
    return {of(made.sleeps), of(made.reads), of(made.writes), of(made.others)};
  }

 private:
  static server::options for_one_task() {
    server::options o;
    o.core.num_tasks = 1;
    o.listen = {"127.0.0.1:0"};
    return o;
  }

  // No other thread may wake it.
  static asio::awaitable<void> stop_at_end(server::server& one) {
    co_await one.job_done();
    one.stop("the job is over");
  }

  void serve() {
    is_counted = true;
    asio::co_spawn(io_, server_.run(), asio::detached);
    asio::co_spawn(io_, stop_at_end(server_), asio::detached);
    server_.run_context();
  }

  asio::io_context io_;
  server::server server_{io_, for_one_task()};
  std::thread thread_{[this] { serve(); }};
  asio::io_context idle_{1};
  server::raw_client client_{idle_, server_.addresses().front()};
  std::uint64_t last_{1};
};

std::string put_again(std::uint64_t id) {
  return server::frame(core::put_args{.key = "k", .value = "v", .overwrite = true}, id);
}

// It also wakes for deadlines, every 50 ms at the most.
void check_is_minimal(served_job::each const& found) {
  BOOST_TEST(found.reads == 1.0);
  BOOST_TEST(found.writes == 1.0);
  BOOST_TEST(found.sleeps >= 0.9);  // under load a request may be there already
  BOOST_TEST(found.sleeps <= 1.2);
  BOOST_TEST(found.others <= 0.1);
}

BOOST_FIXTURE_TEST_SUITE(system_calls_test, served_job)

BOOST_AUTO_TEST_CASE(a_put_takes_three_system_calls) { check_is_minimal(calls_for(put_again)); }

BOOST_AUTO_TEST_CASE(a_get_takes_three_system_calls) {
  ask(put_again, 1);
  check_is_minimal(calls_for([](std::uint64_t id) { return server::try_get_frame(id, "k"); }));
}

BOOST_AUTO_TEST_CASE(a_barrier_takes_three_system_calls_for_each_task) {
  check_is_minimal(
      calls_for([](std::uint64_t id) { return server::barrier_frame(id, 0, "step"); }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::cost
