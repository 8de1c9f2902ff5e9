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

BOOST_AUTO_TEST_CASE(data_is_gathered_in_task_order) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    auto const both = co_await (b.all_gather("g", "one", 60s) && a.all_gather("g", "zero", 60s));
    std::vector<std::string> const expected{"zero", "one"};
    BOOST_TEST((std::get<0>(both) == expected));
    BOOST_TEST((std::get<1>(both) == expected));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_barrier_can_have_a_subset_of_tasks) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    barrier_options const alone{60s, 0};
    auto const round = co_await a.barrier("b", alone);
    BOOST_TEST(round == round_number{1});
    barrier_options with{60s};
    with.participants.assign({task_id{0}});
    auto const next = co_await a.barrier("b", with);
    BOOST_TEST(next == round_number{2});
    auto const stranger = co_await outcome_of(b.barrier("b", alone));
    BOOST_TEST(stranger.code() == errc::invalid_argument);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_round_can_be_cancelled_for_all) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    auto const cancel = [this]() -> asio::awaitable<void> {
      co_await b.cancel_barrier("b", round_number{1});
    };
    auto const outcome = co_await (outcome_of(a.barrier("b", 60s)) && cancel());
    BOOST_TEST(outcome.code() == errc::cancelled);
    auto const none = co_await outcome_of(a.cancel_barrier("b"));
    BOOST_TEST(none.code() == errc::failed_precondition);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(observers_meet_at_a_count_barrier) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto one = co_await client::connect(options());
    auto two = co_await client::connect(options());
    auto const both = co_await (one.count_barrier("c", 2, 60s) && two.count_barrier("c", 2, 60s));
    BOOST_TEST(std::get<0>(both) == round_number{1});
    auto const joined = co_await outcome_of(one.join());
    BOOST_TEST(joined.code() == errc::failed_precondition);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(progress_names_the_missing) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    std::string missing;
    asio::steady_timer told{io, time_point::max()};
    barrier_options with{60s};
    with.progress_every = 1ms;
    with.on_progress = [&](core::barrier_progress const& p) {
      missing = p.missing;
      told.cancel();
    };
    auto const then_arrive = [&]() -> asio::awaitable<void> {
      boost::system::error_code ignored;
      co_await told.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
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

BOOST_AUTO_TEST_CASE(operands_are_reduced) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    auto const sum =
        co_await (a.reduce("r", 40, reduction::sum, 60s) && b.reduce("r", 2, reduction::sum, 60s));
    BOOST_TEST(std::get<0>(sum) == 42);
    BOOST_TEST(std::get<1>(sum) == 42);
    auto const least = co_await (a.reduce("r", std::int64_t{-5}, reduction::min, 60s) &&
                                 b.reduce("r", std::int64_t{7}, reduction::min, 60s));
    BOOST_TEST(std::get<1>(least) == -5);
    auto const greatest = co_await (a.reduce("r", -0.5, reduction::max, 60s) &&
                                    b.reduce("r", -2.0, reduction::max, 60s));
    BOOST_TEST(std::get<0>(greatest) == -0.5);
    auto const all = co_await (a.reduce_bits("r", "\x0f", bitwise::all, 60s) &&
                               b.reduce_bits("r", "\x3c", bitwise::all, 60s));
    BOOST_TEST(std::get<0>(all) == "\x0c");
    auto const any = co_await (a.reduce_bits("r", "\x0f", bitwise::any, 60s) &&
                               b.reduce_bits("r", "\x3c", bitwise::any, 60s));
    BOOST_TEST(std::get<0>(any) == "\x3f");
    auto const round = co_await (a.all_equal("r", "v7", 60s) && b.all_equal("r", "v7", 60s));
    BOOST_TEST(std::get<0>(round) == round_number{6});
    auto const differ = co_await (outcome_of(a.all_equal("r", "v7", 60s)) &&
                                  outcome_of(b.all_equal("r", "v8", 60s)));
    BOOST_TEST(std::get<0>(differ).code() == errc::failed_precondition);
    BOOST_TEST(std::get<1>(differ).message().find("task 0 and task 1") != std::string::npos);
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

BOOST_AUTO_TEST_CASE(a_task_can_wait_at_many_barriers_but_once_at_each) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    auto const both = [](client& who) -> asio::awaitable<void> {
      co_await (who.barrier("one") && who.barrier("two") && who.barrier("three"));
    };
    co_await (both(a) && both(b));
    co_await (both(b) && both(a));
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
