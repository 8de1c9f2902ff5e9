#include "coxswain/client/blocking_process_monitor.hpp"

#include "coxswain/server/background_server.hpp"

#include <boost/test/unit_test.hpp>

#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace coxswain::test {
namespace {

server::options server_options() {
  server::options options;
  options.core.num_tasks = 2;
  options.core.recoverable = true;
  options.core.join_barrier = false;
  options.linger = 1s;
  return options;
}

class fixture {
 protected:
  [[nodiscard]] std::unique_ptr<blocking_client> joined(std::uint32_t task,
                                                        std::uint64_t self) const {
    client_options options{coordinator.addresses().front(), task_id{task}};
    options.incarnation = incarnation{self};
    auto c = std::make_unique<blocking_client>(options);
    c->join();
    return c;
  }

  // Waits until the reports contain this text, and returns them.
  std::string until(std::string_view text) {
    std::unique_lock lock{mutex};
    changed.wait(lock, [&] { return given.find(text) != std::string::npos; });
    return given;
  }

  void say(std::string_view text) {
    std::lock_guard const lock{mutex};
    given += text;
    changed.notify_all();
  }

  // "2 tasks; " or "2 tasks, lost 1; "
  blocking_process_monitor::observer notify{
      [this](core::tasks_answer const& tasks, std::span<process const> lost) {
        std::string text = std::to_string(tasks.tasks.size()) + " tasks";
        for (auto const& p : lost) text += ", lost " + std::to_string(p.task.value);
        say(text + "; ");
      }};
  blocking_process_monitor::ending ended{
      [this](status const& why) { say("ended " + std::string{name(why.code())}); }};

  server::background_server coordinator{server_options()};
  std::mutex mutex;
  std::condition_variable changed;
  std::string given;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(blocking_process_monitor_test, fixture)

BOOST_AUTO_TEST_CASE(lost_processes_are_reported_and_stale_until_the_client_closes) {
  auto const zero = joined(0, 100);
  auto one = joined(1, 101);
  process const both[] = {{task_id{0}, incarnation{100}}, {task_id{1}, incarnation{101}}};
  blocking_process_monitor monitor{*zero, notify, ended};
  until("2 tasks; ");
  BOOST_TEST(monitor.check_current(both).ok());

  one.reset();
  until("lost 1; ");
  BOOST_TEST(monitor.check_current(both).code() == errc::failed_precondition);
  zero->close();

  BOOST_TEST(until("ended") == "2 tasks; 2 tasks, lost 1; ended CANCELLED");
  BOOST_TEST(monitor.check_current(both).code() == errc::failed_precondition);
}

BOOST_AUTO_TEST_CASE(changes_during_a_callback_are_reported_together) {
  auto const zero = joined(0, 100);
  auto one = joined(1, 101);
  std::promise<void> go_on;
  bool is_first = true;
  auto const notify_slowly = [&](core::tasks_answer const& tasks, std::span<process const> lost) {
    if (std::exchange(is_first, false)) {
      say("begun; ");
      go_on.get_future().wait();
    }
    notify(tasks, lost);
  };
  blocking_process_monitor monitor{*zero, notify_slowly};
  until("begun; ");
  process const other[] = {{task_id{1}, incarnation{201}}};

  monitor.mark_failed(task_id{1}, {errc::internal, "boom"}).value();
  one.reset();
  auto const again = joined(1, 201);
  while (!monitor.check_current(other).ok()) std::this_thread::yield();
  go_on.set_value();

  BOOST_TEST(until("lost") == "begun; 2 tasks; 2 tasks, lost 1; ");
}

BOOST_AUTO_TEST_CASE(a_closed_client_has_no_monitor) {
  auto const zero = joined(0, 100);
  zero->close();

  auto const is_cancelled = [](error const& e) { return e.code() == errc::cancelled; };
  BOOST_CHECK_EXCEPTION((blocking_process_monitor{*zero, notify}), error, is_cancelled);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
