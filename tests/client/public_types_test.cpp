// What users may write in one expression, next to <error.h> and under both using-directives. For
// what they may not, see clashing_names.cpp.

#include "coxswain/client/blocking_client.hpp"
#include "coxswain/client/blocking_process_monitor.hpp"
#include "coxswain/client/client.hpp"
#include "coxswain/client/event_watch.hpp"
#include "coxswain/client/host_topology.hpp"
#include "coxswain/client/preemption_notifier.hpp"
#include "coxswain/client/process_monitor.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/test/unit_test.hpp>

#include <error.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <barrier>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <future>
#include <semaphore>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

using namespace std;
using namespace coxswain;

static_assert(is_nothrow_move_constructible_v<blocking_client>);
static_assert(is_nothrow_move_assignable_v<blocking_client>);
static_assert(is_base_of_v<boost::system::system_error, coxswain::error>);
static_assert(is_same_v<client::executor_type, boost::asio::any_io_executor>);
static_assert(!is_aggregate_v<call_options> && !is_aggregate_v<barrier_options> &&
              !is_aggregate_v<join_options> && !is_aggregate_v<leave_options> &&
              !is_aggregate_v<put_options> && !is_aggregate_v<events_options> &&
              !is_aggregate_v<client_options>);

// Every public type except `error` and `errc`, unqualified.
template <class...>
constexpr bool are_types = true;
static_assert(
    are_types<barrier_failure, barrier_options, barrier_progress, barrier_status, bitwise,
              blocking_client, blocking_key_watch, blocking_process_monitor, call_options, client,
              client_event, client_options, device, device_attribute, diagnostics, duration, event,
              event_kind, event_watch, events_options, events_result, expectation, failure,
              finished_round, global_topology, incarnation, job_error, job_status, join_options,
              key_change, key_lifetime, key_value, key_watch, leave_options, local_topology,
              logged_event, missing_task, preemption_notifier, process, process_monitor,
              process_table, put_mode, put_options, queue_item, reduction, remove_mode, result<int>,
              role, round_number, severity, status, straggler, swap_result, task_id, task_list,
              task_pass, task_progress, task_state, task_status, tasks_result, time_limit,
              time_point, tls_options, use_coroutine_t, wait_status, watch_options, why_result>);

// Those two as well, with a using-declaration.
namespace application {
using coxswain::errc;
using coxswain::error;
static_assert(is_base_of_v<boost::system::system_error, error>);
static_assert(is_same_v<decltype(error{status{errc::internal, "x"}}.outcome()), status const&>);
}  // namespace application

namespace {

// Compiled, not run. The result of a call is what co_await returns.
template <class... T>
void compiled(boost::asio::awaitable<T>...) {}

[[maybe_unused]] void calls(client& c, int task, size_t other) {
  auto const job = client_options{"b12:8476", task}.with_job("night").with_token("secret");
  static_cast<void>(job);
  compiled(c.join(join_options{1.5s}.with_take_over()));
  compiled(c.barrier("b", {1.5s, {0, 1}}));
  compiled(c.barrier("b", {60s, {task, other}}));
  compiled(c.barrier("b", barrier_options{60s, other}.with_fail_when_lost()));
  compiled(c.alive_tasks({task, 2}, 10s));
  compiled(c.alive_tasks({}, 1.5s));
  compiled(c.alive_tasks(vector{0, 1, 2}));
  vector const both{task_id{task}, task_id{other}};
  compiled(c.alive_tasks(both, 60s));
  compiled(c.reduce("r", task, reduction::sum));
  compiled(c.reduce("r", other, reduction::max, {1.5s, {0, 1}}));
  compiled(c.reduce("r", 0.5F, reduction::min, 60s));
  compiled(c.put("k", "v", put_mode::overwrite));
  compiled(c.put("k", "v", put_options{key_lifetime::ephemeral}.with_timeout(1.5s)));
  compiled(c.get("k", 1.5s, boost::asio::as_tuple(boost::asio::use_awaitable)));
  compiled(c.preempt(1.5s, task_id{other}));
  compiled(c.leave(leave_options{1.5s}.with_returning()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(public_types)

BOOST_AUTO_TEST_CASE(tasks_are_numbers_of_any_integer_type) {
  int const one = 1;
  size_t const two = 2;
  vector const expected{task_id{0}, task_id{1}, task_id{2}};

  BOOST_TEST((task_list{0, one, two}.ids() == expected));
  BOOST_TEST((task_list{vector{0, one, 2}}.ids() == expected));
  BOOST_TEST((barrier_options{60s, {0, one, two}}.participants == expected));
  BOOST_TEST((client_options{"b12:8476", two}.task == task_id{2}));
  BOOST_TEST(task_list{}.ids().empty());
}

BOOST_AUTO_TEST_CASE(options_can_be_built_in_one_expression) {
  auto const barrier = barrier_options{1.5s, 3}.with_fail_when_lost();

  BOOST_TEST((barrier.timeout == 1500ms));
  BOOST_TEST(barrier.fail_when_lost);
  BOOST_TEST((barrier.participants == vector{task_id{3}}));
  BOOST_TEST((call_options{}.timeout == 300s));
  BOOST_TEST((watch_options{}.timeout == without_limit));
  BOOST_TEST((events_options{}.timeout == without_limit));
  BOOST_TEST(events_options{5s}.with_last(9).last == 9u);
  BOOST_TEST(client_options("b12:8476", 1).with_job("night").job == "night");
}

BOOST_AUTO_TEST_SUITE_END()
