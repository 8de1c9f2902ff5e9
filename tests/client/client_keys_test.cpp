// Keys, watches and queues, with clients and the real coordinator over real sockets.

#include "tests/client/two_clients.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::test {

BOOST_FIXTURE_TEST_SUITE(client_keys, two_clients)

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
    int i = 0;
    while (!done) {
      std::vector<std::pair<std::string, std::string>> both{{name(0), std::to_string(i)},
                                                            {name(keys - 1), std::to_string(i)}};
      co_await c.put_all(std::move(both), put_mode::overwrite);
      co_await c.put("elsewhere", "v", put_mode::overwrite);
      if (i % 2 == 0) {
        co_await c.put(name(1), "v");
      } else {
        co_await c.remove(name(1));
      }
      ++i;
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
