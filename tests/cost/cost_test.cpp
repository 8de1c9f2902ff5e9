// What things cost, counted and not timed: heap per idle task, allocations per barrier. A change
// that makes them dearer must say so here.

#include "coxswain/server/dispatch.hpp"
#include "coxswain/wire/codec.hpp"
#include "tests/wire/live_bytes.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace coxswain::cost {
namespace {

constexpr std::uint32_t num_tasks = 1000;

// A coordinator with its connections, without sockets; what it writes is read at once.
class job {
 public:
  job() : brain_{options(), incarnation{1}, now_} {
    for (std::uint32_t i = 0; i < num_tasks; ++i) {
      connections_.push_back(brain_.open(now_, "127.0.0.1:40000", core::session_secret{}));
      core::hello_args hello;
      hello.label = "worker-host-17:31415";
      say(i, hello, 0);
    }
    for (std::uint32_t i = 0; i < num_tasks; ++i) {
      core::join_args const join{incarnation{i + 1}, core::timeout_default};
      say(i, join, 1);
    }
  }

  void barrier(std::uint64_t id) {
    core::barrier_args step;
    step.name = "step";
    for (std::uint32_t i = 0; i < num_tasks; ++i) say(i, step, id);
  }

  [[nodiscard]] std::size_t frames_written() const { return written_; }

 private:
  static server::options options() {
    server::options o;
    o.core.num_tasks = num_tasks;
    o.core.events_max = 1;  // the last events have a bound of their own, whoever they are about
    return o;
  }

  void say(std::uint32_t task, core::request what, std::uint64_t id) {
    frame_.clear();
    std::uint64_t const answered = id == 0 ? 0 : id - 1;
    std::optional<task_id> const acting = id == 0 ? std::nullopt : std::optional{task_id{task}};
    wire::append_frame(frame_, {request_id{id}, answered, acting, std::move(what)});
    brain_.received(now_, connections_[task], frame_);
    while (brain_.deliver(dirty_)) write_all();
  }

  void write_all() {
    std::array<iovec, 16> room;
    for (connection_id const id : dirty_) {
      for (auto parts = brain_.out(id).fill(room); !parts.empty();
           parts = brain_.out(id).fill(room)) {
        std::size_t count = 0;
        for (iovec const& part : parts) count += part.iov_len;
        brain_.wrote(now_, id, count);
        ++written_;
      }
    }
  }

  time_point now_{1h};
  server::dispatch brain_;
  std::vector<connection_id> connections_;
  std::vector<connection_id> dirty_;
  std::string frame_;
  std::size_t written_{};
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_idle_task_costs_less_than_two_kibibytes_of_heap) {
  std::size_t const before = test::live_bytes();
  job j;
  std::size_t const each = (test::live_bytes() - before) / num_tasks;
  BOOST_TEST_MESSAGE(each << " bytes for each idle task");
  BOOST_TEST(each < 2048U);
}

BOOST_AUTO_TEST_CASE(a_barrier_allocates_a_bounded_number_of_times_for_each_task) {
  job j;
  for (std::uint64_t id = 2; id < 10; ++id) j.barrier(id);
  std::size_t const before = test::allocations();
  std::size_t const written = j.frames_written();
  for (std::uint64_t id = 10; id < 20; ++id) j.barrier(id);
  double const each = static_cast<double>(test::allocations() - before) / (10.0 * num_tasks);
  BOOST_TEST_MESSAGE(each << " allocations for each task and barrier");
  BOOST_TEST(each < 3.0);
  // And each release is one write.
  BOOST_TEST(j.frames_written() - written == 10U * num_tasks);
}

}  // namespace coxswain::cost
