// Every kind of barrier, with clients and the real coordinator over real sockets.

#include "tests/client/two_clients.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {

BOOST_FIXTURE_TEST_SUITE(client_barriers, two_clients)

BOOST_AUTO_TEST_CASE(a_barrier_that_times_out_names_the_missing_tasks) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    try {
      co_await a.barrier("ckpt", 30ms);
      BOOST_ERROR("released");
    } catch (error const& e) {
      std::string const what = e.what();
      BOOST_TEST(what.starts_with("DEADLINE_EXCEEDED: Barrier timed out. "));
      BOOST_REQUIRE(e.details());
      BOOST_TEST(e.details()->arrived == 1u);
      BOOST_TEST(e.details()->expected == 2u);
      BOOST_TEST(e.details()->missing == "1");
      BOOST_TEST((e.details()->known.at(0).state == task_state::connected));
    }
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(progress_names_the_missing) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    std::string missing;
    asio::steady_timer notified{io, time_point::max()};
    barrier_options with{60s};
    with.progress_every = 1ms;
    with.on_progress = [&](core::barrier_progress const& p) {
      missing = p.missing;
      notified.cancel();
    };
    auto const then_arrive = [&]() -> asio::awaitable<void> {
      boost::system::error_code ignored;
      co_await notified.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      co_await b.barrier("b", 60s);
    };
    auto const round = co_await (a.barrier("b", with) && then_arrive());
    BOOST_TEST(round == round_number{1});
    BOOST_TEST(missing == "1");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(every_barrier_with_fail_when_lost_fails_with_a_recoverable_task) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both(recoverable(0));
    barrier_options fail_when_lost{60s};
    fail_when_lost.fail_when_lost = true;
    auto const fail = [&]() -> asio::awaitable<void> {
      while (coordinator.look().barriers.size() < 5) co_await asio::post(asio::use_awaitable);
      a = client{};
    };

    auto const all =
        co_await (outcome_of(b.barrier("plain", fail_when_lost)) &&
                  outcome_of(b.all_gather("g", "x", fail_when_lost)) &&
                  outcome_of(b.reduce("r", 7, reduction::sum, fail_when_lost)) &&
                  outcome_of(b.reduce_bits("b", "x", bitwise::any, fail_when_lost)) &&
                  outcome_of(b.all_equal("e", "x", fail_when_lost)) && outcome_of(fail()));

    auto const& [plain, gather, reduce, bits, equal, failing] = all;
    BOOST_TEST(failing.ok());
    for (auto const& outcome : {plain, gather, reduce, bits, equal}) {
      BOOST_TEST(outcome.code() == errc::internal);
    }
    BOOST_TEST((coordinator.error() == std::nullopt));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(wait_at_barrier_twice_success_gives_round_one_and_two) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    for (std::uint64_t round = 1; round <= 2; ++round) {
      auto const both = co_await (a.barrier("b", 60s) && b.barrier("b", 60s));
      BOOST_TEST(std::get<0>(both) == round_number{round});
    }
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
