#include "coxswain/net/context_end.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>

namespace coxswain::net {
namespace {

BOOST_AUTO_TEST_SUITE(context_end_test)

BOOST_AUTO_TEST_CASE(the_callback_runs_once_when_the_context_ends) {
  std::optional<asio::io_context> io{std::in_place, 1};
  int calls = 0;
  context_end const first{*io, [&] { ++calls; }};
  context_end const second{*io, [&] { ++calls; }};

  io.reset();

  BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(the_callback_does_not_run_after_destruction) {
  std::optional<asio::io_context> io{std::in_place, 1};
  int calls = 0;
  context_end const kept{*io, [&] { ++calls; }};
  {
    context_end const gone{*io, [&] { calls += 100; }};
  }
  BOOST_TEST(calls == 0);

  io.reset();

  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(a_callback_can_destroy_another_one) {
  std::optional<asio::io_context> io{std::in_place, 1};
  int calls = 0;
  std::optional<context_end> second;
  context_end const first{*io, [&] { second.reset(); }};
  second.emplace(*io, [&] { ++calls; });

  io.reset();

  BOOST_TEST(calls == 0);
}

BOOST_AUTO_TEST_CASE(timers_can_be_cancelled_in_time) {
  std::optional<asio::io_context> io{std::in_place, 1};
  std::optional<asio::steady_timer> timer{std::in_place, *io, asio::steady_timer::duration::max()};
  bool called = false;
  timer->async_wait([&](boost::system::error_code) { called = true; });
  context_end const end{*io, [&] { timer.reset(); }};

  io.reset();

  BOOST_TEST(!timer);
  BOOST_TEST(!called);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::net
