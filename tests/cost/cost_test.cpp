// Costs that are counted, not timed: heap per idle task, allocations per barrier. A change that
// raises them must change the limits here.

#include "coxswain/server/dispatch.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/routed.hpp"
#include "tests/wire/live_bytes.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::cost {
namespace {

constexpr std::uint32_t num_tasks = 1000;

// A coordinator with its connections, without sockets; its output is read at once.
class job {
 public:
  explicit job(server::options const& o, std::uint32_t tasks_per_session = 1)
      : logic_{o, incarnation{1}, now_},
        tasks_{o.core.num_tasks},
        per_session_{tasks_per_session} {}

  // Its connections are routes of a relay.
  void use_relay() {
    relay_ = logic_.open(now_, "10.0.0.1:40000", core::session_secret{});
    core::hello_args hello;
    hello.relay = true;
    frame_.clear();
    wire::append_frame(frame_, {{}, 0, {}, hello});
    receive(*relay_);
  }

  // Returns the number of allocations, as all below do.
  std::size_t join() {
    connections_.reserve(tasks_ / per_session_);
    std::size_t sum = 0;
    for (std::uint32_t i = 0; i < tasks_ / per_session_; ++i) {
      std::size_t const before = test::allocations();
      open();
      sum += test::allocations() - before;
      core::hello_args hello;
      hello.label = "worker-host-17:31415";
      sum += say(i * per_session_, hello, 0);
    }
    sum += all_say([](std::uint32_t task) {
      return core::join_args{incarnation{task + 1}, core::timeout_default};
    });
    for (std::uint32_t i = 0; i < tasks_; i += per_session_) sum += say_that_it_lives(i);
    return sum;
  }

  std::size_t barrier() {
    return all_say([](std::uint32_t) { return step(); });
  }

  std::size_t leave() {
    return all_say([](std::uint32_t) { return core::leave_args{}; });
  }

  std::size_t put() {
    return all_say([](std::uint32_t task) {
      core::put_args one;
      one.key = key(task);
      one.value = std::string(100, 'v');
      one.overwrite = true;
      return one;
    });
  }

  std::size_t get() {
    return all_say([](std::uint32_t task) { return core::get_args{key(task)}; });
  }

  // All but the last wait for a key, which the last one puts and removes.
  std::size_t fan_out() {
    std::string const awaited = "checkpoint/17/is-complete";
    ++calls_;
    std::size_t sum = 0;
    for (std::uint32_t i = 0; i + 1 < tasks_; ++i) sum += say(i, core::get_args{awaited}, calls_);
    core::put_args one;
    one.key = awaited;
    one.value = std::string(1024, 'v');
    sum += say(tasks_ - 1, std::move(one), calls_);
    core::remove_args end;
    end.key = awaited;
    return sum + say(tasks_ - 1, std::move(end), ++calls_);
  }

  // Delivers this many requests at once and writes all replies.
  void ask_much(std::uint32_t task, std::size_t requests) {
    std::string all;
    for (std::size_t i = 0; i < requests; ++i) {
      wire::append_frame(all, {request_id{id_of(task, ++calls_)}, 0, task_id{task},
                               core::try_get_args{"a key that nobody has ever put"}});
    }
    auto const from = connections_[task / per_session_];
    logic_.begin();
    auto taken = logic_.received(now_, from, all);
    while (logic_.deliver(dirty_)) write_all();
    while (taken != server::dispatch::taken::all) {
      logic_.begin();
      taken = logic_.go_on(now_, from);
      while (logic_.deliver(dirty_)) write_all();
    }
    say_that_it_lives(task);
  }

  // Allocations by all arrivals except the first and last, which begin and end the round.
  [[nodiscard]] std::size_t allocations_of_arrivals() {
    ++calls_;
    say(0, step(), calls_);
    std::size_t sum = 0;
    for (std::uint32_t i = 1; i + 1 < tasks_; ++i) sum += say(i, step(), calls_);
    say(tasks_ - 1, step(), calls_);
    return sum;
  }

  std::size_t say_that_it_lives(std::uint32_t task) {
    return say(task, std::monostate{}, 0, calls_ * per_session_);
  }

  [[nodiscard]] std::size_t frames_written() const { return written_; }

 private:
  static core::barrier_args step() {
    core::barrier_args one;
    one.name = "step";
    return one;
  }

  void open() {
    connections_.push_back(relay_ ? *relay_
                                  : logic_.open(now_, "127.0.0.1:40000", core::session_secret{}));
    if (!relay_) return;
    frame_.clear();
    auto const route = static_cast<std::uint32_t>(connections_.size());
    wire::append_opened(frame_, route, core::session_secret{}, "process 31415 of user 1000");
    receive(*relay_);
  }

  static std::string key(std::uint32_t task) { return "checkpoint/shard/" + std::to_string(task); }

  template <class Make>
  std::size_t all_say(Make make) {
    ++calls_;
    std::size_t sum = 0;
    for (std::uint32_t i = 0; i < tasks_; ++i) sum += say(i, make(i), calls_);
    return sum;
  }

  std::size_t say(std::uint32_t task, core::request what, std::uint64_t call) {
    return say(task, std::move(what), call == 0 ? 0 : id_of(task, call),
               call == 0 ? 0 : (call - 1) * per_session_);
  }

  std::size_t say(std::uint32_t task, core::request what, std::uint64_t id,
                  std::uint64_t answered) {
    std::optional<task_id> const acting = id == 0 ? std::nullopt : std::optional{task_id{task}};
    frame_.clear();
    wire::append_frame(frame_, {request_id{id}, answered, acting, std::move(what)});
    if (relay_) {
      auto const content = std::exchange(frame_, {});
      wire::append_content_head(frame_, task / per_session_ + 1, content.size());
      frame_ += content;
    }
    std::size_t const before = test::allocations();
    receive(connections_[task / per_session_]);
    return test::allocations() - before;
  }

  void receive(connection_id from) {
    logic_.begin();
    logic_.received(now_, from, frame_);
    while (logic_.deliver(dirty_)) write_all();
  }

  [[nodiscard]] std::uint64_t id_of(std::uint32_t task, std::uint64_t call) const {
    return (call - 1) * per_session_ + task % per_session_ + 1;
  }

  void write_all() {
    std::array<iovec, 16> room;
    for (connection_id const id : dirty_) {
      for (auto parts = logic_.out(id).fill(room); !parts.empty();
           parts = logic_.out(id).fill(room)) {
        std::size_t count = 0;
        for (iovec const& part : parts) count += part.iov_len;
        logic_.wrote(now_, id, count);
        ++written_;
      }
    }
  }

  time_point now_{1h};
  server::dispatch logic_;
  std::uint32_t tasks_;
  std::uint32_t per_session_;
  std::uint64_t calls_{};  // of each task
  std::optional<connection_id> relay_;
  std::vector<connection_id> connections_;
  std::vector<connection_id> dirty_;
  std::string frame_;
  std::size_t written_{};
};

server::options options_for(std::uint32_t tasks) {
  server::options o;
  o.core.num_tasks = tasks;
  return o;
}

// The event log and the recording have their own bounds, independent of the task.
server::options with_short_memory() {
  auto o = options_for(num_tasks);
  o.core.events_max = 1;
  o.record_bytes_max = 0;
  return o;
}

// The memory of a job with this many joined tasks per session.
std::size_t size(std::uint32_t tasks, std::uint32_t per_session) {
  std::size_t const before = test::live_bytes();
  job j{options_for(tasks), per_session};
  j.join();
  return test::live_bytes() - before;
}

// The memory of a job whose tasks are the clients of one relay.
std::size_t size_behind_relay(std::uint32_t tasks) {
  auto o = options_for(tasks);
  o.record_bytes_max = 0;
  std::size_t const before = test::live_bytes();
  job j{o};
  j.use_relay();
  j.join();
  return test::live_bytes() - before;
}

// The CPU time of this thread.
duration cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

duration time_of_leaving(std::uint32_t tasks) {
  duration least = duration::max();
  for (int i = 0; i < 3; ++i) {
    job j{options_for(tasks), 100};
    j.join();
    duration const before = cpu_time();
    j.leave();
    least = std::min(least, cpu_time() - before);
  }
  return least;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_additional_session_with_a_task_costs_less_than_1800_bytes) {
  std::size_t const each = (size(10'000, 1) - size(5'000, 1)) / 5'000;
  BOOST_TEST_MESSAGE(each << " bytes for each more session with a task");
  BOOST_TEST(each < 1800U);
}

BOOST_AUTO_TEST_CASE(an_additional_task_behind_a_relay_costs_less_than_1800_bytes) {
  std::size_t const each = (size_behind_relay(4'000) - size_behind_relay(1'000)) / 3'000;
  BOOST_TEST_MESSAGE(each << " bytes for each more task behind a relay");
  BOOST_TEST(each < 1800U);
}

BOOST_AUTO_TEST_CASE(an_additional_task_of_a_session_costs_less_than_400_bytes) {
  std::size_t const each = (size(10'000, 100) - size(2'000, 100)) / 8'000;
  BOOST_TEST_MESSAGE(each << " bytes for each more task");
  BOOST_TEST(each < 400U);
}

BOOST_AUTO_TEST_CASE(a_task_uses_no_more_memory_after_many_messages) {
  job j{with_short_memory()};
  j.join();
  j.ask_much(8, 1000);  // fills the memory that all tasks use again
  j.ask_much(7, 4);
  std::size_t const before = test::live_bytes();
  j.ask_much(7, 1000);
  BOOST_TEST(test::live_bytes() < before + 1024);
}

BOOST_AUTO_TEST_CASE(an_arrival_allocates_nothing) {
  job j{with_short_memory()};
  j.join();
  for (int i = 0; i < 4; ++i) j.barrier();
  BOOST_TEST(j.allocations_of_arrivals() == 0U);
}

BOOST_AUTO_TEST_CASE(a_heartbeat_allocates_nothing) {
  job j{with_short_memory()};
  j.join();
  for (int i = 0; i < 4; ++i) BOOST_TEST(j.say_that_it_lives(7) <= 8U);
  for (int i = 0; i < 4; ++i) BOOST_TEST(j.say_that_it_lives(7) == 0U);
}

BOOST_AUTO_TEST_CASE(a_get_allocates_nothing) {
  job j{with_short_memory()};
  j.join();
  j.put();
  for (int i = 0; i < 4; ++i) j.get();
  BOOST_TEST(j.get() == 0U);
}

// The name of its key, which is freed at once if the get before it waits for the same key, and a
// place among those who wait for it.
BOOST_AUTO_TEST_CASE(a_get_that_waits_allocates_twice) {
  job j{with_short_memory()};
  j.join();
  for (int i = 0; i < 4; ++i) j.fan_out();
  BOOST_TEST(j.fan_out() <= 2 * num_tasks + num_tasks / 20);
}

// Its value, while the key exists and the log of changes is full.
BOOST_AUTO_TEST_CASE(a_put_allocates_once) {
  auto o = with_short_memory();
  o.core.changes_max = num_tasks;
  o.record_bytes_max = server::options{}.record_bytes_max;
  job j{o};
  j.join();
  for (int i = 0; i < 4; ++i) j.put();
  BOOST_TEST(j.put() <= num_tasks + num_tasks / 100);
}

// From the connection to the release of all tasks.
BOOST_AUTO_TEST_CASE(allocations_per_joining_task_are_bounded) {
  job j{options_for(num_tasks)};
  double const each = static_cast<double>(j.join()) / num_tasks;
  BOOST_TEST_MESSAGE(each << " allocations for each task that joins");
  BOOST_TEST(each < 5.5);
}

BOOST_AUTO_TEST_CASE(allocations_per_barrier_task_are_bounded) {
  auto o = with_short_memory();
  o.record_bytes_max = server::options{}.record_bytes_max;
  job j{o};
  j.join();
  for (int i = 0; i < 8; ++i) j.barrier();
  std::size_t const before = test::allocations();
  std::size_t const written = j.frames_written();
  for (int i = 0; i < 10; ++i) j.barrier();
  double const each = static_cast<double>(test::allocations() - before) / (10.0 * num_tasks);
  BOOST_TEST_MESSAGE(each << " allocations for each task and barrier");
  BOOST_TEST(each < 0.05);
  // And each release is one write.
  BOOST_TEST(j.frames_written() - written == 10U * num_tasks);
}

// Sixteen times the tasks; 256 times the time if each one that leaves visited those before it.
BOOST_AUTO_TEST_CASE(time_to_leave_grows_with_the_number_of_tasks_not_its_square) {
  BOOST_TEST(time_of_leaving(32'000).count() < 50 * time_of_leaving(2'000).count());
}

}  // namespace coxswain::cost
