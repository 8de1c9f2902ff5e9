// Watching over real sockets: tasks, events, alive tasks, and the process monitor.

#include "coxswain/client/event_watch.hpp"
#include "coxswain/client/process_monitor.hpp"
#include "tests/client/two_clients.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::test {

BOOST_FIXTURE_TEST_SUITE(watch_test, two_clients)

BOOST_AUTO_TEST_CASE(events_arrive_in_order_and_once) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    event_watch events{a};
    std::string kinds;
    for (;;) {
      auto const e = co_await events.next(0s);
      if (!e) break;
      kinds += std::to_string(static_cast<int>(e->what.kind)) + ' ';
    }
    BOOST_TEST(kinds == "14 14 1 ");  // joining, joining, joined
    auto const none = co_await events.next(10ms);
    BOOST_TEST(!none);
    auto next = co_await (events.next() && b.report_error(errc::internal, "boom"));
    BOOST_TEST_REQUIRE(next.has_value());
    BOOST_TEST((next->what.kind == event_kind::failed));
    BOOST_TEST((next->what.task == task_id{1}));
    next = co_await events.next();
    BOOST_TEST((next->what.kind == event_kind::job_failed));
    BOOST_TEST(events.lost() == 0u);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(the_process_monitor_reports_lost_tasks_until_the_client_ends) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    process_monitor monitor{a};
    process const both[] = {{task_id{0}, a.incarnation()}, {task_id{1}, b.incarnation()}};
    std::vector<std::vector<process>> lost;
    auto const notify = [&](tasks_result const& tasks, std::span<process const> gone) {
      BOOST_TEST(tasks.tasks.size() == 2u);
      lost.emplace_back(gone.begin(), gone.end());
      if (lost.size() == 1) b = client{};
      if (lost.size() == 2) a = client{};
    };

    auto const why = co_await monitor.run(notify);

    BOOST_TEST(why.code() == errc::failed_precondition);
    BOOST_TEST_REQUIRE(lost.size() == 2u);
    BOOST_TEST(lost.at(0).empty());
    BOOST_TEST((lost.at(1) == std::vector{both[1]}));
    BOOST_TEST(monitor.check_current(both).code() == errc::failed_precondition);
    BOOST_TEST(monitor.check_current(std::span{both, 1}).ok());
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_stopped_coordinator_ends_the_process_monitor) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    process_monitor monitor{a};
    auto const stop = [this](tasks_result const&, std::span<process const>) {
      coordinator.stop("maintenance");
    };

    auto const why = co_await monitor.run(stop);

    BOOST_TEST(why.code() == errc::unavailable);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_process_marked_as_failed_is_reported_at_once) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    process_monitor monitor{a};
    std::string notice;
    auto const notify = [&](tasks_result const&, std::span<process const> gone) {
      notice += std::to_string(gone.size()) + ' ';
      if (notice == "0 ") {
        BOOST_TEST(monitor.mark_failed(task_id{1}, {errc::internal, "boom"}).value().size() == 1u);
        BOOST_TEST(monitor.mark_failed(task_id{7}, {errc::internal, "boom"}).error().code() ==
                   errc::not_found);
        a = client{};
      }
    };

    static_cast<void>(co_await monitor.run(notify));

    BOOST_TEST(notice == "0 1 ");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_cancelled_process_monitor_reports_nothing_more) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    process_monitor monitor{a};
    int count = 0;
    asio::steady_timer first_reported{io, time_point::max()};
    auto const notify = [&](tasks_result const&, std::span<process const>) {
      ++count;
      first_reported.cancel();
    };
    auto const wait = [&]() -> asio::awaitable<void> {
      boost::system::error_code ignored;
      co_await first_reported.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    };

    co_await (monitor.run(notify) || wait());
    BOOST_TEST(monitor.mark_failed(task_id{1}, {errc::internal, "boom"}).value().size() == 1u);

    BOOST_TEST(count == 1);
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
