// Clients and the real coordinator, over real sockets, in one io_context: what each call does.

#include "coxswain/client/client.hpp"

#include "coxswain/server/server.hpp"
#include "tests/client/fake_coordinator.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <set>

namespace coxswain::test {
namespace {

using namespace asio::experimental::awaitable_operators;

server::options server_options(std::uint32_t num_tasks) {
  server::options options;
  options.core.num_tasks = num_tasks;
  options.linger = 1s;
  return options;
}

// A coordinator for two tasks.
class fixture {
 protected:
  fixture() { asio::co_spawn(io, coordinator.run(), asio::detached); }

  [[nodiscard]] client_options options() const {
    return client_options{coordinator.addresses().front()};
  }
  [[nodiscard]] client_options options(std::uint32_t task) const {
    return client_options{coordinator.addresses().front(), task_id{task}};
  }

  // Two clients that have joined.
  asio::awaitable<void> join_both() {
    a = co_await client::connect(options(0));
    b = co_await client::connect(options(1));
    co_await (a.join() && b.join());
  }

  // All sessions but those of `a` and `b` are over.
  asio::awaitable<void> coordinator_forgets() {
    while (coordinator.look().sessions > 0) co_await asio::post(io, asio::use_awaitable);
  }

  asio::io_context io{1};
  server::server coordinator{io, server_options(2)};
  client a;
  client b;
};

// What a call throws; OK if nothing.
template <class T>
asio::awaitable<status> outcome_of(asio::awaitable<T> call) {
  status outcome;
  try {
    (void)co_await std::move(call);
  } catch (error const& e) {
    outcome = e.outcome();
  }
  co_return outcome;
}

asio::awaitable<status> outcome_of(asio::awaitable<void> call) {
  status outcome;
  try {
    co_await std::move(call);
  } catch (error const& e) {
    outcome = e.outcome();
  }
  co_return outcome;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_calls, fixture)

BOOST_AUTO_TEST_CASE(a_job_joins_meets_and_leaves) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    BOOST_TEST(a.num_tasks() == 2u);
    for (std::uint64_t round = 1; round <= 3; ++round) {
      auto const both = co_await (a.barrier("b", 60s) && b.barrier("b", 60s));
      BOOST_TEST(std::get<0>(both) == round_number{round});
      BOOST_TEST(std::get<1>(both) == round_number{round});
    }
    co_await (a.leave() && b.leave());
    co_await coordinator.job_done();
    BOOST_TEST((coordinator.error() == std::nullopt));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(keys_are_put_got_listed_counted_and_removed) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await client::connect(options());
    auto const waiting = co_await (c.get("addr/1", 60s) && c.put("/addr//1", "ten"));
    BOOST_TEST(std::get<0>(waiting) == "ten");
    BOOST_TEST(std::get<1>(waiting) == 1u);
    auto const again = co_await outcome_of(c.put("addr/1", "eleven"));
    BOOST_TEST(again.code() == errc::already_exists);
    co_await c.put("addr/1", "eleven", put_mode::overwrite);
    auto found = co_await c.try_get("addr/1");
    BOOST_TEST(found.value() == "eleven");
    found = co_await c.try_get("addr/2");
    BOOST_TEST(!found);

    auto count = co_await c.increment("addr/n", 5);
    BOOST_TEST(count == 5);
    count = co_await c.increment("addr/n", -7);
    BOOST_TEST(count == -2);
    auto const all = co_await c.list("addr");
    BOOST_TEST(all.size() == 2u);
    BOOST_TEST(all.at(0).key == "addr/1");
    BOOST_TEST(all.at(0).value == "eleven");
    BOOST_TEST(all.at(1).key == "addr/n");
    BOOST_TEST(all.at(1).value == "-2");
    BOOST_TEST(all.at(0).version < all.at(1).version);

    auto const removed = co_await c.remove("addr");
    BOOST_TEST(removed == 2u);
    auto const root = co_await outcome_of(c.remove("/"));
    BOOST_TEST(root.code() == errc::invalid_argument);
    auto const everything = co_await c.remove("/", remove_mode::everything);
    BOOST_TEST(everything == 0u);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(keys_are_compared_appended_to_and_put_and_got_together) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await client::connect(options());
    auto first = expectation::absent();
    auto set = co_await c.compare_and_set("k", "one", first);
    BOOST_TEST(bool{set});
    BOOST_TEST(set.version == 1u);
    set = co_await c.compare_and_set("k", "two", first);
    BOOST_TEST(!bool{set});
    BOOST_TEST(set.outcome.code() == errc::already_exists);
    BOOST_TEST(set.found.value() == "one");
    set = co_await c.compare_and_set("k", "two", expectation::version(set.version));
    BOOST_TEST(set.version == 2u);
    set = co_await c.compare_and_set("k", "three", expectation::value("two"));
    BOOST_TEST(set.version == 3u);
    set = co_await c.compare_and_set("missing", "v", expectation::value(""));
    BOOST_TEST(set.outcome.code() == errc::not_found);
    BOOST_TEST(!set.found.has_value());

    auto version = co_await c.append("k", "+");
    BOOST_TEST(version == 4u);
    std::vector<std::pair<std::string, std::string>> entries{{"d/a", "1"}, {"d/b", "2"}};
    version = co_await c.put_all(entries);
    BOOST_TEST(version == 6u);
    auto const again = co_await outcome_of(c.put_all(entries));
    BOOST_TEST(again.code() == errc::already_exists);
    version = co_await c.put_all(entries, put_mode::overwrite);
    BOOST_TEST(version == 8u);
    std::vector<std::string> const keys{"k", "d/b"};
    auto const all = co_await c.get_all(keys);
    BOOST_TEST(all.at(0).value == "three+");
    BOOST_TEST(all.at(1).key == "d/b");
    BOOST_TEST(all.at(1).version == 8u);
    auto count = co_await c.count();
    BOOST_TEST(count == 3u);
    count = co_await c.count("d");
    BOOST_TEST(count == 2u);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_missing_key_of_many_is_named) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await client::connect(options());
    co_await c.put("a", "1");
    std::vector<std::string> const keys{"a", "b"};
    auto const late = co_await outcome_of(c.get_all(keys, 10ms));
    BOOST_TEST(late.code() == errc::deadline_exceeded);
    BOOST_TEST(late.message().find("1 of 2 keys: 'b'") != std::string::npos);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(owned_keys_vanish_with_their_task) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    co_await a.put("alive/0", "here", put_mode::create, key_lifetime::task);
    auto watch = co_await b.watch("alive");
    a = client{};
    auto const changes = co_await watch.next();
    BOOST_TEST(changes.size() == 1u);
    BOOST_TEST(changes.at(0).key == "alive/0");
    BOOST_TEST(!changes.at(0).value.has_value());
    auto c = co_await client::connect(options());
    auto const nobody =
        co_await outcome_of(c.put("alive/1", "here", put_mode::create, key_lifetime::task));
    BOOST_TEST(nobody.code() == errc::failed_precondition);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_watch_lists_and_then_tells_every_change_once) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await client::connect(options());
    co_await c.put("d/a", "1");
    auto watch = co_await c.watch("d");
    BOOST_TEST(watch.version() == 1u);
    co_await c.put("d/b", "2");
    auto const listed = co_await watch.list();
    BOOST_TEST(listed.size() == 2u);
    co_await c.put("e", "3");
    auto changes = co_await watch.next(0ms);
    BOOST_TEST(changes.empty());
    BOOST_TEST(watch.version() == 3u);
    auto const both = co_await (watch.next() && c.put("d/b", "4", put_mode::overwrite));
    BOOST_TEST(std::get<0>(both).size() == 1u);
    BOOST_TEST(std::get<0>(both).at(0).value.value() == "4");
    BOOST_TEST(std::get<0>(both).at(0).version == 4u);
    co_await c.remove("d");
    changes = co_await watch.next();
    BOOST_TEST(changes.size() == 2u);
    BOOST_TEST(changes.at(1).key == "d/b");
    BOOST_TEST(!changes.at(1).value.has_value());

    auto old = co_await c.watch("d", 1);
    changes = co_await old.next();
    BOOST_TEST(changes.size() == 4u);
    auto future = co_await c.watch("d", 100);
    auto const refused = co_await outcome_of(future.next());
    BOOST_TEST(refused.code() == errc::invalid_argument);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_watch_does_not_keep_its_client_alive) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await client::connect(options());
    auto watch = co_await c.watch("");
    c = client{};
    co_await coordinator_forgets();
    auto const gone = co_await outcome_of(watch.next());
    BOOST_TEST(gone.code() == errc::failed_precondition);
    key_watch none;
    auto const nobodys = co_await outcome_of(none.list());
    BOOST_TEST(nobodys.code() == errc::failed_precondition);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_queue_gives_each_item_to_one_caller) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto producer = co_await client::connect(options());
    auto consumer = co_await client::connect(options());
    auto length = co_await producer.push("work", "a");
    BOOST_TEST(length == 1u);
    length = co_await producer.push("work", "b");
    BOOST_TEST(length == 2u);
    auto const first = co_await consumer.pop("work");
    BOOST_TEST(first.value == "a");
    auto const second = co_await producer.pop("work");
    BOOST_TEST(second.value == "b");
    BOOST_TEST(first.number < second.number);
    auto const third = co_await (consumer.pop("work", 60s) && producer.push("work", "c"));
    BOOST_TEST(std::get<0>(third).value == "c");
    BOOST_TEST(std::get<1>(third) == 0u);
    auto const none = co_await outcome_of(consumer.pop("work", 10ms));
    BOOST_TEST(none.code() == errc::deadline_exceeded);
  };
  run(io, test());
}

// Its Bye says how many replies it had received: not this one.
BOOST_AUTO_TEST_CASE(a_client_that_is_destroyed_gives_back_an_item_that_was_on_its_way) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await client::connect(options());
    {
      auto consumer = co_await client::connect(options());
      asio::co_spawn(io, consumer.pop("q", 60s), asio::detached);
      while (coordinator.look().waiting_pops == 0) co_await asio::post(io, asio::use_awaitable);
    }
    co_await c.push("q", "item");
    auto const item = co_await c.pop("q", 60s);
    BOOST_TEST(item.value == "item");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_get_times_out_at_its_deadline) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await client::connect(options());
    auto const begin = std::chrono::steady_clock::now();
    auto const outcome = co_await outcome_of(c.get("k", 50ms));
    auto const took = std::chrono::steady_clock::now() - begin;
    BOOST_TEST(outcome.code() == errc::deadline_exceeded);
    BOOST_TEST((took >= 50ms));
    BOOST_TEST((took < 900ms));  // so it was not the client's own timer
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_barrier_that_times_out_says_who_is_missing) {
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

BOOST_AUTO_TEST_CASE(everybody_gathers_everybodys_data_in_task_order) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    auto const both = co_await (b.all_gather("g", "one", 60s) && a.all_gather("g", "zero", 60s));
    std::vector<std::string> const expected{"zero", "one"};
    BOOST_TEST((std::get<0>(both) == expected));
    BOOST_TEST((std::get<1>(both) == expected));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_barrier_may_be_among_some) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    task_id const alone[] = {task_id{0}};
    auto const round = co_await a.barrier("b", 60s, alone);
    BOOST_TEST(round == round_number{1});
    barrier_options with{60s};
    with.among.assign({task_id{0}});
    auto const next = co_await a.barrier("b", with);
    BOOST_TEST(next == round_number{2});
    auto const stranger = co_await outcome_of(b.barrier("b", 60s, alone));
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

BOOST_AUTO_TEST_CASE(observers_count_each_other) {
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

BOOST_AUTO_TEST_CASE(a_reported_error_reaches_everybody) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    co_await a.report_error(errc::data_loss, "bad disk");
    auto const told = co_await b.failure();
    BOOST_TEST((told.cause.task == task_id{0}));
    BOOST_TEST(told.cause.why.code() == errc::data_loss);
    BOOST_TEST(told.cause.why.message() == "bad disk");
    auto const late = co_await outcome_of(b.barrier("b", 60s));
    BOOST_TEST(late.code() == errc::failed_precondition);
    auto const left = co_await outcome_of(b.leave());
    BOOST_TEST(left.code() == errc::failed_precondition);
    auto const after = co_await outcome_of(b.put("k", "v"));
    BOOST_TEST(after.code() == errc::failed_precondition);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(missed_heartbeat_callback_is_executed_if_any_client_goes_away_as_failure) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    a = client{};
    auto const told = co_await b.failure();
    BOOST_TEST((told.cause.task == task_id{0}));
    BOOST_TEST(told.cause.why.code() == errc::unavailable);

    auto const again = co_await b.failure();
    BOOST_TEST((again == told));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(get_env_succeeds_after_init_where_all_that_is_known_is_known_at_once) {
  auto const test = [this]() -> asio::awaitable<void> {
    a = co_await client::connect(options(1));
    BOOST_TEST(a.num_tasks() == 2u);
    BOOST_TEST((a.task() == task_id{1}));
    BOOST_TEST((a.incarnation() != incarnation{}));
    BOOST_TEST(a.reconnects() == 0u);
    auto const other = co_await client::connect(options(0));
    BOOST_TEST((other.incarnation() != a.incarnation()));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(use_compression_is_no_option_and_what_compresses_well_travels_as_it_is) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    std::string const zeros(1 << 20, '\0');
    co_await a.put("zeros", zeros);
    auto const got = co_await b.get("zeros");
    BOOST_TEST((got == zeros));
    co_await (a.leave() && b.leave());
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(trim_coordination_error_message_coordination_error_says_everything_once) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    auto const late = co_await outcome_of(a.barrier("ckpt", 10ms));
    BOOST_TEST(late.code() == errc::deadline_exceeded);
    BOOST_TEST(late.text().starts_with("DEADLINE_EXCEEDED: Barrier timed out. Barrier 'ckpt'"));
    BOOST_TEST(late.text().find("DEADLINE_EXCEEDED") == late.text().rfind("DEADLINE_EXCEEDED"));
    BOOST_TEST(late.text().find("timed out. ") == late.text().rfind("timed out. "));
    BOOST_TEST(late.text().find("'ckpt'") == late.text().rfind("'ckpt'"));

    co_await b.report_error(errc::data_loss, "bad disk");
    auto const failed = co_await outcome_of(a.barrier("ckpt"));
    BOOST_TEST(failed.code() == errc::failed_precondition);
    BOOST_TEST(failed.text().find("bad disk") == failed.text().rfind("bad disk"));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(trim_coordination_error_message_network_error_says_who_was_lost_and_why_once) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    coordinator.stop("preempted");
    auto const lost = co_await a.failure();
    BOOST_TEST((lost.cause.task == std::nullopt));
    auto const refused = co_await outcome_of(a.barrier("ckpt"));
    BOOST_TEST(refused.code() == errc::unavailable);
    BOOST_TEST(refused.message().find(options().address) != std::string::npos);
    BOOST_TEST(refused.message().find("preempted") != std::string::npos);
    BOOST_TEST(refused.message().find("preempted") == refused.message().rfind("preempted"));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(connect_after_reset_error_joins_the_same_incarnation_again) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto with = options(0);
    with.recoverable = true;
    a = co_await client::connect(with);
    b = co_await client::connect(options(1));
    co_await (a.join() && b.join());
    auto const healthy = co_await outcome_of(a.reset());
    BOOST_TEST(healthy.code() == errc::failed_precondition);

    co_await a.report_error(errc::data_loss, "bad disk");
    auto const failed = co_await outcome_of(a.barrier("b", 60s));
    BOOST_TEST(failed.code() == errc::failed_precondition);
    auto const refused = co_await outcome_of(a.join());
    BOOST_TEST(refused.code() == errc::aborted);
    co_await a.reset();
    auto const had_started = co_await a.join();

    BOOST_TEST(had_started);
    BOOST_TEST((coordinator.error() == std::nullopt));
    co_await (a.barrier("b", 60s) && b.barrier("b", 60s));
    co_await (a.leave() && b.leave());
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_task_whose_own_error_was_not_reset_leaves_with_failed_precondition) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto with = options(0);
    with.recoverable = true;
    a = co_await client::connect(with);
    b = co_await client::connect(options(1));
    co_await (a.join() && b.join());
    co_await a.report_error(errc::data_loss, "bad disk");

    auto const left = co_await outcome_of(a.leave());
    BOOST_TEST(left.code() == errc::failed_precondition);

    co_await b.leave();
    co_await coordinator.job_done();
    BOOST_TEST((coordinator.error() == std::nullopt));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_recoverable_task_is_taken_over_by_another_client) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto with = options(0);
    with.recoverable = true;
    a = co_await client::connect(with);
    b = co_await client::connect(options(1));
    co_await (a.join() && b.join());
    auto second = co_await client::connect(with);
    auto const refused = co_await outcome_of(second.join());
    BOOST_TEST(refused.code() == errc::aborted);

    join_options taking{60s};
    taking.take_over = true;
    auto const had_started = co_await second.join(taking);

    BOOST_TEST(had_started);
    auto const zombie = co_await outcome_of(a.barrier("b", 60s));
    BOOST_TEST(zombie.code() == errc::aborted);
    auto const wrote = co_await outcome_of(a.put("k", "v"));
    BOOST_TEST(wrote.code() == errc::aborted);
    a = client{};
    co_await (second.barrier("b", 60s) && b.barrier("b", 60s));
    co_await (second.leave() && b.leave());
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_barrier_that_minds_a_loss_fails_when_a_recoverable_task_does) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto with = options(0);
    with.recoverable = true;
    a = co_await client::connect(with);
    b = co_await client::connect(options(1));
    co_await (a.join() && b.join());
    barrier_options minding{60s};
    minding.fail_when_lost = true;
    auto const fail = [&]() -> asio::awaitable<void> {
      while (coordinator.look().barriers.empty()) co_await asio::post(asio::use_awaitable);
      a = client{};
    };

    auto const both = co_await (outcome_of(b.barrier("b", minding)) && fail());

    BOOST_TEST(both.code() == errc::internal);
    BOOST_TEST((coordinator.error() == std::nullopt));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(what_the_tasks_bring_is_made_one) {
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

BOOST_AUTO_TEST_CASE(get_own_task_is_known_at_once_and_get_own_task_uninitialized_is_none) {
  auto const test = [this]() -> asio::awaitable<void> {
    BOOST_TEST((a.task() == std::nullopt));
    a = co_await client::connect(options(1));
    BOOST_TEST((a.task() == task_id{1}));
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

BOOST_AUTO_TEST_CASE(a_client_that_is_destroyed_fails_its_task_at_once) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    auto const begin = std::chrono::steady_clock::now();
    a = client{};
    auto const told = co_await b.failure();
    BOOST_TEST((told.cause.task == task_id{0}));
    BOOST_TEST((std::chrono::steady_clock::now() - begin < 1500ms));  // and not after the grace
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(before_it_has_joined_a_task_may_use_keys_and_nothing_that_needs_a_task) {
  auto const test = [this]() -> asio::awaitable<void> {
    core::local_topology const no_devices;
    a = co_await client::connect(options(0));
    co_await a.put("k", "v");
    auto const value = co_await a.get("k");
    BOOST_TEST(value == "v");
    auto outcome = co_await outcome_of(a.barrier("b"));
    BOOST_TEST(outcome.code() == errc::failed_precondition);
    outcome = co_await outcome_of(a.alive_tasks());
    BOOST_TEST(outcome.code() == errc::failed_precondition);
    outcome = co_await outcome_of(a.report_error(errc::internal, "boom"));
    BOOST_TEST(outcome.code() == errc::failed_precondition);
    outcome = co_await outcome_of(a.put("mine", "v", put_mode::create, key_lifetime::task));
    BOOST_TEST(outcome.code() == errc::failed_precondition);
    outcome = co_await outcome_of(a.exchange_topology("gpu", no_devices));
    BOOST_TEST(outcome.code() == errc::failed_precondition);
    outcome = co_await outcome_of(a.reset());
    BOOST_TEST(outcome.code() == errc::failed_precondition);
    BOOST_TEST((coordinator.error() == std::nullopt));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(joining_again_changes_nothing_and_leaving_ends_everything) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    auto const had_started = co_await a.join();
    BOOST_TEST(had_started);
    co_await (a.barrier("b") && b.barrier("b"));
    co_await (a.leave() && b.leave());

    auto outcome = co_await outcome_of(a.put("k", "v"));
    BOOST_TEST(outcome.code() == errc::failed_precondition);
    outcome = co_await outcome_of(a.barrier("b"));
    BOOST_TEST(outcome.code() == errc::failed_precondition);
    outcome = co_await outcome_of(a.join());
    BOOST_TEST(outcome.code() == errc::failed_precondition);
    outcome = co_await outcome_of(a.leave());
    BOOST_TEST(outcome.code() == errc::failed_precondition);
    BOOST_TEST((coordinator.error() == std::nullopt));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_timeout_of_zero_asks_for_an_answer_now_whatever_is_asked) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    core::local_topology const no_devices;
    std::span<task_id const> const all;
    std::vector<task_id> const alone(1, task_id{1});
    std::vector<duration> times(2);
    times[1] = -5s;
    for (duration const none : times) {
      auto outcome = co_await outcome_of(a.barrier("b", none));
      BOOST_TEST(outcome.code() == errc::deadline_exceeded);
      outcome = co_await outcome_of(a.get("missing", none));
      BOOST_TEST(outcome.code() == errc::deadline_exceeded);
      outcome = co_await outcome_of(a.pop("empty", none));
      BOOST_TEST(outcome.code() == errc::deadline_exceeded);
      outcome = co_await outcome_of(a.count_barrier("c", 2, none));
      BOOST_TEST(outcome.code() == errc::deadline_exceeded);
      outcome = co_await outcome_of(a.alive_tasks(all, none));
      BOOST_TEST(outcome.code() == errc::deadline_exceeded);
      outcome = co_await outcome_of(a.exchange_topology("gpu", no_devices, none));
      BOOST_TEST(outcome.code() == errc::deadline_exceeded);
    }
    co_await a.put("present", "v");
    auto const value = co_await a.get("present", 0s);
    BOOST_TEST(value == "v");
    co_await a.count_barrier("c", 1, 0s);
    co_await b.barrier("alone", 0s, alone);
    // Each of these was a round that failed, of which the other is told once.
    auto const missed = co_await outcome_of(b.barrier("b"));
    BOOST_TEST(missed.code() == errc::deadline_exceeded);
  };
  run(io, test());
}

// Orbax and JAX use texts like these, and the same one for a barrier and a key.
BOOST_AUTO_TEST_CASE(names_may_be_any_text_and_values_may_be_empty) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    std::vector<std::string> const names{"[op=save 17] item/metadata: ready",
                                         "tensorstore_checkpoint_3", "Zürich \xf0\x9f\x9a\xa3",
                                         "a\tb\nc"};
    for (std::string const& name : names) {
      co_await (a.barrier(name) && b.barrier(name));
      co_await a.put(name, "");
      auto const value = co_await b.get(name);
      BOOST_TEST(value == "");
    }
    std::string const binary("\0\xff\0", 3);
    co_await a.put("continuous_checkpointing_policy_should_save_7/", binary);
    auto const value = co_await b.get("continuous_checkpointing_policy_should_save_7");
    BOOST_TEST(value == binary);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_task_may_wait_at_many_barriers_at_once_and_at_one_only_once) {
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

BOOST_AUTO_TEST_CASE(the_whole_job_can_be_looked_at) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    auto const picture = co_await a.inspect();
    BOOST_TEST(picture.job == "default");
    BOOST_TEST(picture.tasks.size() == 2u);
    BOOST_TEST((picture.tasks.at(1).state == task_state::connected));
    BOOST_TEST(picture.tasks.at(1).self == b.incarnation());
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(progress_is_reported_by_tasks_and_seen_in_why) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    co_await b.report_progress(1200);
    asio::co_spawn(io, a.barrier("later", 60s), asio::detached);

    auto const told = co_await a.why();

    BOOST_TEST_REQUIRE(told.waits.size() == 1u);
    auto const& w = told.waits.front();
    BOOST_TEST(w.name == "later");
    BOOST_TEST(w.waiting == "0");
    BOOST_TEST(w.missing->missing == "1");
    BOOST_TEST((w.missing->known.at(0).step == 1200u));
    BOOST_TEST(told.stuck == "");

    auto observer = co_await client::connect(options());
    auto refused = errc::ok;
    try {
      co_await observer.report_progress(1);
    } catch (error const& problem) {
      refused = problem.code();
    }
    BOOST_TEST((refused == errc::failed_precondition));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_thousand_calls_are_open_at_once) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await client::connect(options());
    std::vector<std::string> got(1'000);
    std::size_t done = 0;
    asio::steady_timer all{io, time_point::max()};
    for (std::size_t i = 0; i < got.size(); ++i) {
      asio::co_spawn(io, c.get("k/" + std::to_string(i), 60s),
                     [&, i](std::exception_ptr failure, std::string value) {
                       if (!failure) got[i] = std::move(value);
                       if (++done == got.size()) all.cancel();
                     });
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      co_await c.put("k/" + std::to_string(i), std::to_string(i));
    }
    boost::system::error_code ignored;
    co_await all.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    for (std::size_t i = 0; i < got.size(); ++i) BOOST_TEST(got[i] == std::to_string(i));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_large_value_goes_both_ways) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await client::connect(options());
    std::string value(40'000'000, '\0');
    for (std::size_t i = 0; i < value.size(); ++i)
      value[i] = static_cast<char>(i * 2654435761 >> 13);
    co_await c.put("large", value);
    auto const got = co_await c.get("large", 60s);
    BOOST_TEST((got == value));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_stopped_coordinator_ends_calls_and_is_a_failure) {
  auto const test = [this]() -> asio::awaitable<void> {
    std::vector<std::string> events;
    auto with = options(0);
    with.on_event = [&events](client_event const& e) { events.push_back(e.text()); };
    auto c = co_await client::connect(std::move(with));
    auto const stop = [this]() -> asio::awaitable<void> {
      while (coordinator.look().waiting_gets == 0) co_await asio::post(io, asio::use_awaitable);
      coordinator.stop("maintenance");
    };
    auto const outcome = co_await (outcome_of(c.get("k", 60s)) && stop());
    BOOST_TEST(outcome.code() == errc::cancelled);
    auto const told = co_await c.failure();
    BOOST_TEST(told.cause.why.code() == errc::unavailable);
    BOOST_TEST((told.cause.task == std::nullopt));
    co_await asio::post(io, asio::use_awaitable);
    BOOST_TEST(events.size() == 2u);
    BOOST_TEST(events.at(0).starts_with("goodbye: UNAVAILABLE"));
    BOOST_TEST(events.at(1).starts_with("lost: UNAVAILABLE"));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(cancelling_a_join_takes_it_back) {
  auto const test = [this]() -> asio::awaitable<void> {
    a = co_await client::connect(options(0));
    asio::steady_timer timer{io, 20ms};
    auto const first = co_await (a.join() || timer.async_wait(asio::use_awaitable));
    BOOST_TEST(first.index() == 1u);
    auto const picture = co_await a.inspect();
    BOOST_TEST((picture.tasks.at(0).state == task_state::never_connected));
    b = co_await client::connect(options(1));
    co_await (a.join() && b.join());
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(client_addresses)

BOOST_AUTO_TEST_CASE(tcp_names_numbers_and_unix_paths) {
  asio::io_context io{1};
  auto with = server_options(1);
  std::string const path = "/tmp/coxswain-client-test-" + std::to_string(::getpid());
  with.listen = {"127.0.0.1:0", "unix:" + path};
  server::server coordinator{io, with};
  asio::co_spawn(io, coordinator.run(), asio::detached);
  std::string const number = coordinator.addresses().at(0);
  std::string const port = number.substr(number.rfind(':'));
  auto const test = [&]() -> asio::awaitable<void> {
    for (std::string const& address : {number, "localhost" + port, port, "unix:" + path}) {
      BOOST_TEST_CONTEXT(address) {
        client_options at{address};
        auto c = co_await client::connect(std::move(at));
        auto const count = co_await c.increment("n");
        BOOST_TEST(count > 0);
      }
    }
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(another_job_or_number_of_tasks_is_refused) {
  asio::io_context io{1};
  server::server coordinator{io, server_options(2)};
  asio::co_spawn(io, coordinator.run(), asio::detached);
  auto const test = [&]() -> asio::awaitable<void> {
    client_options another{coordinator.addresses().front()};
    another.job = "another";
    auto outcome = co_await outcome_of(client::connect(another));
    BOOST_TEST(outcome.code() == errc::failed_precondition);
    another.job.clear();
    another.num_tasks = 3;
    outcome = co_await outcome_of(client::connect(another));
    BOOST_TEST(outcome.code() == errc::failed_precondition);
    BOOST_TEST(outcome.message() ==
               "this process was told of 3 tasks, but the job of the "
               "coordinator at " +
                   another.address + " has 2");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_client_waits_for_a_coordinator_that_is_not_there_yet) {
  asio::io_context io{1};
  std::string const path = "/tmp/coxswain-client-late-" + std::to_string(::getpid());
  auto with = server_options(1);
  with.listen = {"unix:" + path};
  std::optional<server::server> coordinator;
  auto const begin_late = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer{io, 50ms};
    co_await timer.async_wait(asio::use_awaitable);
    coordinator.emplace(io, with);
    asio::co_spawn(io, coordinator->run(), asio::detached);
  };
  auto const test = [&]() -> asio::awaitable<void> {
    client_options at{"unix:" + path};
    auto c = co_await (client::connect(std::move(at)) && begin_late());
    auto const count = co_await c.increment("n");
    BOOST_TEST(count == 1);
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
