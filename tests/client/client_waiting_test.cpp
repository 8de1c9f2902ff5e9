// A client's reports while it waits for other tasks or for the coordinator, over real sockets.

#include "tests/client/two_clients.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>

namespace coxswain::test {
namespace {

using steady = std::chrono::steady_clock;

// The reports of the client; `await` returns the first line that contains a text.
class lines {
 public:
  auto on_event() {
    return [this](client_event const& e) { all_.push_back(e); };
  }
  asio::awaitable<client_event> await(std::string text) {
    for (;;) {
      for (auto const& one : all_) {
        if (contains(one.text(), text)) co_return one;
      }
      co_await next_iteration();
    }
  }

 private:
  std::vector<client_event> all_;
};

// A port that refuses.
std::string refusing_address() {
  asio::io_context io;
  asio::ip::tcp::acceptor const was{io, {asio::ip::address_v4::loopback(), 0}};
  return "127.0.0.1:" + std::to_string(was.local_endpoint().port());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_waiting, two_clients)

BOOST_AUTO_TEST_CASE(a_waiting_join_or_barrier_names_the_missing_tasks) {
  lines logged;
  auto const test = [this, &logged]() -> asio::awaitable<void> {
    auto with = options(0);
    with.on_event = logged.on_event();
    a = co_await client::connect(std::move(with));
    auto const come = [this, &logged]() -> asio::awaitable<void> {
      auto const line = co_await logged.await("waiting: join has waited for ");
      BOOST_TEST(contains(line.text(), " s: 1 of 2 tasks is missing: 1 (never connected)"));
      BOOST_TEST((line.level == core::severity::warning));
      b = co_await client::connect(options(1));
      co_await b.join();
    };
    co_await (a.join() && come());
    auto const arrive = [this, &logged]() -> asio::awaitable<void> {
      auto const line = co_await logged.await("waiting: barrier 'b' has waited for ");
      BOOST_TEST(contains(line.text(), " s: 1 of 2 tasks is missing: 1 (connected"));
      co_await b.barrier("b");
    };
    co_await (a.barrier("b") && arrive());
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(an_address_that_refuses_is_named_within_a_second) {
  lines logged;
  auto const test = [&logged]() -> asio::awaitable<void> {
    client_options with{refusing_address()};
    with.on_event = logged.on_event();
    with.connect_timeout = 1500ms;
    auto const began = steady::now();
    auto const name = [&logged, began]() -> asio::awaitable<void> {
      auto const line = co_await logged.await("coordinator at 127.0.0.1:");
      BOOST_TEST(contains(line.text(), "Connection refused"));
      BOOST_TEST(contains(line.text(), "; giving up in "));
      BOOST_TEST((steady::now() - began < 1500ms));
    };
    auto const outcome = co_await (outcome_of(client::connect(std::move(with))) && name());
    BOOST_TEST(outcome.code() == errc::deadline_exceeded);
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(client_without_its_coordinator)

// End to end: the time stated in the HelloReply applies, and the message is shown.
BOOST_AUTO_TEST_CASE(a_refusing_coordinator_is_given_up_after_the_time_it_stated) {
  asio::io_context io{1};
  lines logged;
  auto const test = [&io, &logged]() -> asio::awaitable<void> {
    auto with = server_options(1);
    with.core.coordinator_return = 1s;
    with.core.hosted_by_task = 0;
    std::optional<server::server> coordinator{std::in_place, io, std::move(with)};
    asio::co_spawn(io, coordinator->run(), asio::detached);
    client_options as{coordinator->addresses().front(), task_id{0}};
    as.on_event = logged.on_event();
    auto c = co_await client::connect(std::move(as));
    co_await c.join();
    auto const go = [&coordinator]() -> asio::awaitable<void> {
      while (coordinator->look().waiting_gets == 0) co_await next_iteration();
      coordinator.reset();
    };
    auto const outcome = co_await (outcome_of(c.get("k")) && go());
    BOOST_TEST(contains(outcome.text(),
                        "(in the process of task 0) is gone: its address has "
                        "refused all connections for 1 s"));
    auto const line = co_await logged.await("lost: UNAVAILABLE");
    BOOST_TEST((line.level == core::severity::error));
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_restarted_coordinator_is_reported_as_such) {
  asio::io_context io{1};
  auto const test = [&io]() -> asio::awaitable<void> {
    std::optional<server::server> coordinator{std::in_place, io, server_options(1)};
    asio::co_spawn(io, coordinator->run(), asio::detached);
    auto const address = coordinator->addresses().front();
    client_options as{address, task_id{0}};
    auto c = co_await client::connect(std::move(as));
    co_await c.join();
    auto const restart = [&]() -> asio::awaitable<void> {
      while (coordinator->look().waiting_gets == 0) co_await next_iteration();
      coordinator.reset();
      auto again = server_options(1);
      again.listen = {address};
      coordinator.emplace(io, std::move(again));
      asio::co_spawn(io, coordinator->run(), asio::detached);
    };
    auto const outcome = co_await (outcome_of(c.get("k")) && restart());
    BOOST_TEST(outcome.text() == "UNAVAILABLE: the coordinator at " + address +
                                     " was restarted; its keys and barriers are gone");
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
