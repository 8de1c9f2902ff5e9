// Keys, watches and queues, with clients and the real coordinator over real sockets.

#include "tests/client/two_clients.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::test {

BOOST_FIXTURE_TEST_SUITE(client_keys, two_clients)

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

    bool was_there = co_await c.remove("addr");
    BOOST_TEST(!was_there);
    was_there = co_await c.remove("addr/1");
    BOOST_TEST(was_there);
    auto const removed = co_await c.remove_tree("addr");
    BOOST_TEST(removed == 1u);
    auto root = co_await outcome_of(c.remove("/"));
    BOOST_TEST(root.code() == errc::invalid_argument);
    root = co_await outcome_of(c.remove_tree("/"));
    BOOST_TEST(root.code() == errc::invalid_argument);
    auto const rest = co_await c.remove_tree("/", remove_mode::all);
    BOOST_TEST(rest == 0u);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(compare_and_set_append_put_all_and_get_all_work) {
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

BOOST_AUTO_TEST_CASE(get_all_names_the_missing_key) {
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

BOOST_AUTO_TEST_CASE(ephemeral_keys_are_removed_with_their_task) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await join_both();
    co_await a.put("alive/0", "here", key_lifetime::ephemeral);
    auto watch = co_await b.watch("alive");
    a = client{};
    auto const changes = co_await watch.next();
    BOOST_TEST(changes.size() == 1u);
    BOOST_TEST(changes.at(0).key == "alive/0");
    BOOST_TEST(!changes.at(0).value.has_value());
    auto c = co_await client::connect(options());
    auto const nobody = co_await outcome_of(c.put("alive/1", "here", key_lifetime::ephemeral));
    BOOST_TEST(nobody.code() == errc::failed_precondition);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_watch_lists_and_then_returns_every_change_once) {
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
    co_await c.remove_tree("d");
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

// More than the coordinator examines at once.
BOOST_AUTO_TEST_CASE(a_watch_continues_after_changes_elsewhere) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto c = co_await client::connect(options());
    std::vector<std::pair<std::string, std::string>> busy;
    for (int i = 0; i < 10'000; ++i) busy.emplace_back("busy/" + std::to_string(i), "");
    co_await c.put_all(std::move(busy));
    co_await c.put("d/k", "1");

    auto watch = co_await c.watch("d", 0);
    auto const changes = co_await watch.next();
    BOOST_TEST(changes.size() == 1u);
    BOOST_TEST(changes.at(0).key == "d/k");
    BOOST_TEST(watch.version() == 10'001u);
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

BOOST_AUTO_TEST_CASE(lock_try_lock_and_unlock_work) {
  auto const test = [this]() -> asio::awaitable<void> {
    auto owner = co_await client::connect(options());
    auto next = co_await client::connect(options());
    auto const first = co_await owner.lock("l");
    BOOST_TEST(first == 1u);
    auto const held = co_await next.try_lock("l");
    BOOST_TEST(!held.has_value());
    auto const late = co_await outcome_of(next.lock("l", 10ms));
    BOOST_TEST(late.code() == errc::deadline_exceeded);
    auto const stolen = co_await outcome_of(next.unlock("l", first));
    BOOST_TEST(stolen.code() == errc::permission_denied);

    auto const second = co_await (next.lock("l", 60s) && owner.unlock("l", first));
    BOOST_TEST(second == 2u);
    auto const stale = co_await outcome_of(owner.unlock("l", first));
    BOOST_TEST(stale.code() == errc::failed_precondition);
    co_await next.close();
    auto const third = co_await owner.lock("l", 60s);
    BOOST_TEST(third == 3u);
    auto const free = co_await owner.try_lock("m");
    BOOST_TEST(free.value() == 4u);
  };
  run(io, test());
}

// Its Bye acknowledges the received replies, and not this one.
BOOST_AUTO_TEST_CASE(destroying_a_client_returns_an_item_in_transit) {
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
    BOOST_TEST((took < 900ms));  // so the client's own timer did not end it
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(use_compression_is_no_option_and_compressible_values_arrive_unchanged) {
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

BOOST_AUTO_TEST_CASE(names_may_be_any_utf8_and_values_may_be_empty) {
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

BOOST_AUTO_TEST_CASE(a_large_value_is_sent_and_received) {
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

// More keys than fit on a page; the first and the last always change together.
BOOST_AUTO_TEST_CASE(a_listing_of_many_pages_is_a_consistent_snapshot) {
  constexpr std::size_t keys = 3'500;
  auto const name = [](std::size_t i) { return "many/" + std::to_string(10'000 + i); };
  bool done = false;
  auto const change = [&](client& c) -> asio::awaitable<void> {
    for (int i = 0; !done; ++i) {
      std::vector<std::pair<std::string, std::string>> both{{name(0), std::to_string(i)},
                                                            {name(keys - 1), std::to_string(i)}};
      co_await c.put_all(std::move(both), put_mode::overwrite);
      co_await c.put("elsewhere", "v", put_mode::overwrite);
      if (i % 2 == 0) {
        co_await c.put(name(1), "v");
      } else {
        co_await c.remove(name(1));
      }
    }
  };
  auto const list = [&](client& c) -> asio::awaitable<void> {
    key_watch watch = co_await c.watch("/many//");
    for (int i = 0; i < 20; ++i) {
      auto const all = co_await watch.list();
      BOOST_TEST((all.size() == keys || all.size() == keys - 1));
      BOOST_TEST(all.front().key == name(0));
      BOOST_TEST(all.front().value == all.back().value);
      bool const in_order =
          std::is_sorted(all.begin(), all.end(), [](auto& x, auto& y) { return x.key < y.key; });
      BOOST_TEST(in_order);
      auto const next = co_await watch.next();
      BOOST_TEST(!next.empty());
    }
    done = true;
  };
  auto const test = [&]() -> asio::awaitable<void> {
    co_await join_both();
    std::vector<std::pair<std::string, std::string>> all;
    for (std::size_t i = 0; i < keys; ++i) all.emplace_back(name(i), "0");
    co_await a.put_all(std::move(all));
    co_await a.remove(name(1));
    co_await a.put("many", "itself");
    co_await (change(a) && list(b));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_directory_of_many_pages_is_removed) {
  auto const test = [&]() -> asio::awaitable<void> {
    co_await join_both();
    std::vector<std::pair<std::string, std::string>> all;
    for (int i = 0; i < 2'500; ++i) all.emplace_back("many/" + std::to_string(i), "v");
    all.emplace_back("many", "itself");
    all.emplace_back("other", "stays");
    co_await a.put_all(std::move(all));

    BOOST_TEST(co_await b.remove_tree("many") == 2'501u);
    BOOST_TEST(co_await a.count() == 1u);
    BOOST_TEST(co_await b.remove_tree("many") == 0u);
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
