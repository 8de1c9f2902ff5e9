// The monitor of coxswain.h, and how a runtime uses it.

#include "tests/c/fixture.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <vector>

namespace coxswain::test {
namespace {

// The updates of a callback, one text per call: "0=3 1=4:boom lost 1/101 ended UNAVAILABLE: ...".
class observed {
 public:
  static void notify(coxswain_process_update const* update, void* me) {
    static_cast<observed*>(me)->note(*update);
  }

  // Waits until the text of a call contains this, and returns all calls up to it.
  std::vector<std::string> until(std::string_view text) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock,
                  [&] { return !calls_.empty() && calls_.back().find(text) != std::string::npos; });
    return calls_;
  }

 private:
  void note(coxswain_process_update const& update) {
    std::string text = update.struct_size == sizeof update ? "" : "of another size: ";
    for (std::size_t i = 0; i < update.process_count; ++i) {
      auto const& p = update.processes[i];
      text += (i > 0 ? " " : "") + std::to_string(p.task) + '=' + std::to_string(p.state);
      if (p.error_code != COXSWAIN_OK) text += ":" + text_of(p.error_message);
    }
    for (std::size_t i = 0; i < update.lost_count; ++i) {
      auto const& p = update.lost[i];
      text += " lost " + std::to_string(p.task) + '/' + std::to_string(p.incarnation);
    }
    if (update.ended) text += " ended " + text_of(coxswain_status_message(update.ended));
    std::lock_guard const lock{mutex_};
    calls_.push_back(std::move(text));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> calls_;
};

void stop(coxswain_monitor* m) { coxswain_status_destroy(coxswain_monitor_stop(m)); }
using monitor_ptr = std::unique_ptr<coxswain_monitor, destroyed_by<stop>>;

class monitor_fixture : protected c_fixture {
 protected:
  [[nodiscard]] static monitor_ptr started(coxswain_client* of, coxswain_monitor_callback notify,
                                           void* user_data) {
    coxswain_monitor* m = nullptr;
    BOOST_TEST_REQUIRE(outcome_text(coxswain_monitor_start(of, notify, user_data, &m)) == "OK");
    return monitor_ptr{m};
  }
  [[nodiscard]] monitor_ptr watched(coxswain_client* of) {
    return started(of, observed::notify, &seen);
  }

  [[nodiscard]] client_ptr joined_as(std::uint32_t task, std::uint64_t self) const {
    auto how = options(task);
    how.incarnation = self;
    auto c = connected(how);
    BOOST_TEST_REQUIRE(outcome_text(coxswain_join(c.get(), long_enough, nullptr)) == "OK");
    return c;
  }

  observed seen;
};

// An operation of a runtime with a group of processes, until one of them is lost.
class clique {
 public:
  explicit clique(std::vector<coxswain_process> members) : members_{std::move(members)} {}

  // The result begins with "OK" if the group may be used.
  [[nodiscard]] std::string acquire(coxswain_monitor const* m) const {
    return outcome_text(coxswain_monitor_check_current(m, members_.data(), members_.size()));
  }

  static void notify(coxswain_process_update const* update, void* me) {
    for (std::size_t i = 0; i < update->lost_count; ++i) {
      static_cast<clique*>(me)->abort_if_among(update->lost[i]);
    }
  }

  void wait_until_aborted() { aborted_.get_future().wait(); }

 private:
  void abort_if_among(coxswain_process lost) {
    for (auto const& m : members_) {
      if (m.task == lost.task && m.incarnation == lost.incarnation) {
        aborted_.set_value();
      }
    }
  }

  std::vector<coxswain_process> members_;
  std::promise<void> aborted_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(monitor_test, monitor_fixture)

BOOST_AUTO_TEST_CASE(processes_are_reported_in_order_and_changes_with_the_lost_ones) {
  auto const zero = joined_as(0, 100);
  auto const m = watched(zero.get());
  BOOST_TEST((seen.until("0=3") == std::vector<std::string>{"0=3 1=1"}));

  auto one = joined_as(1, 101);
  BOOST_TEST(seen.until("0=3 1=3").size() == 2u);
  BOOST_TEST(outcome_text(coxswain_report_error(one.get(), COXSWAIN_DATA_LOSS, c_string("disk"))) ==
             "OK");

  BOOST_TEST(seen.until("lost").back() == "0=3 1=4:disk lost 1/101");
}

BOOST_AUTO_TEST_CASE(aborts_acquired_gpu_clique_on_task_failure) {
  auto const zero = joined_as(0, 100);
  auto one = joined_as(1, 101);
  clique both{{{0, 100}, {1, 101}}};
  clique only_zero{{{0, 100}}};
  auto const m = started(zero.get(), clique::notify, &both);
  auto const other = watched(zero.get());
  seen.until("0=3 1=3");
  BOOST_TEST(both.acquire(m.get()) == "OK");

  one.reset();
  both.wait_until_aborted();

  BOOST_TEST(both.acquire(m.get()).starts_with("FAILED_PRECONDITION: task 1 with incarnation 101"));
  BOOST_TEST(only_zero.acquire(m.get()) == "OK");
}

BOOST_AUTO_TEST_CASE(aborts_acquired_gpu_clique_on_task_failure_marked_locally) {
  auto const zero = joined_as(0, 100);
  auto const one = joined_as(1, 101);
  clique both{{{0, 100}, {1, 101}}};
  auto const m = started(zero.get(), clique::notify, &both);
  auto const other = watched(zero.get());
  seen.until("0=3 1=3");

  auto mark = [&] {
    return outcome_text(
        coxswain_monitor_mark_failed(m.get(), 1, COXSWAIN_INTERNAL, c_string("boom")));
  };
  while (both.acquire(m.get()) == "OK") BOOST_TEST(mark() == "OK");
  both.wait_until_aborted();

  BOOST_TEST(both.acquire(m.get()) ==
             "FAILED_PRECONDITION: task 1 with incarnation 101 is no longer there: the task is "
             "failed, INTERNAL: boom");
}

BOOST_AUTO_TEST_CASE(closing_a_client_ends_its_monitor) {
  auto zero = joined_as(0, 100);
  auto const m = watched(zero.get());
  seen.until("0=3");

  zero.reset();

  BOOST_TEST(seen.until("ended").back().starts_with("0=3 1=1 ended "));
  BOOST_TEST(outcome_text(coxswain_monitor_mark_failed(m.get(), 0, COXSWAIN_INTERNAL,
                                                       c_string("late"))) == "OK");
}

BOOST_AUTO_TEST_CASE(a_closed_client_has_no_monitor) {
  auto const zero = joined_as(0, 100);
  coxswain_client_close(zero.get());
  coxswain_monitor* m = nullptr;

  BOOST_TEST(code(coxswain_monitor_start(zero.get(), observed::notify, &seen, &m)) ==
             COXSWAIN_CANCELLED);
  BOOST_TEST(code(coxswain_monitor_start(zero.get(), nullptr, &seen, &m)) ==
             COXSWAIN_INVALID_ARGUMENT);
  BOOST_TEST(!m);
}

BOOST_AUTO_TEST_CASE(a_callback_may_use_the_client_but_not_stop_its_monitor) {
  struct {
    client_ptr job;
    std::promise<coxswain_monitor*> started;
    std::promise<std::string> result;
  } runtime{joined_as(0, 100), {}, {}};
  auto const notify = [](coxswain_process_update const* update, void* user_data) {
    if (update->ended) return;
    auto& mine = *static_cast<decltype(runtime)*>(user_data);
    auto text = outcome_text(coxswain_put(mine.job.get(), c_string("k"), c_string("v"), false));
    text += ' ' + outcome_text(coxswain_monitor_stop(mine.started.get_future().get()));
    mine.result.set_value(std::move(text));
  };

  auto const m = started(runtime.job.get(), notify, &runtime);
  runtime.started.set_value(m.get());

  BOOST_TEST(runtime.result.get_future().get() ==
             "OK FAILED_PRECONDITION: a monitor cannot be stopped in its own callback");
}

BOOST_AUTO_TEST_CASE(stopping_waits_for_a_callback_and_none_begins_after_it) {
  struct {
    std::promise<void> begun;
    std::promise<void> go_on;
    int calls{};
    bool is_through{};
  } slow;
  auto const notify = [](coxswain_process_update const*, void* user_data) {
    auto& mine = *static_cast<decltype(slow)*>(user_data);
    if (++mine.calls > 1) return;
    mine.begun.set_value();
    mine.go_on.get_future().wait();
    mine.is_through = true;
  };
  auto const zero = joined_as(0, 100);
  auto const other = watched(zero.get());
  auto m = started(zero.get(), notify, &slow);
  slow.begun.get_future().wait();

  auto stopping = std::async(std::launch::async, [&] { m.reset(); });
  slow.go_on.set_value();
  stopping.get();
  BOOST_TEST(slow.is_through);
  int const calls = slow.calls;
  auto const one = joined_as(1, 101);
  seen.until("0=3 1=3");

  BOOST_TEST(slow.calls == calls);
}

BOOST_AUTO_TEST_CASE(a_monitor_in_a_forked_child_stops_without_harm) {
  auto const zero = joined_as(0, 100);
  auto m = watched(zero.get());
  seen.until("0=3");

  pid_t const child = ::fork();
  if (child == 0) {
    m.reset();
    ::_exit(0);
  }
  int how = -1;
  BOOST_REQUIRE(::waitpid(child, &how, 0) == child);

  BOOST_TEST((WIFEXITED(how) && WEXITSTATUS(how) == 0));
  auto const one = joined_as(1, 101);
  seen.until("0=3 1=3");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
