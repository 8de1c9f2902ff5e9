// Two hundred cuts of real connections change no result of any call.

#include "tests/faults/cut_proxy.hpp"
#include "coxswain/client/client.hpp"
#include "coxswain/server/server.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace coxswain::faults {
namespace {

constexpr int increments = 100;
constexpr std::uint64_t cuts_wanted = 200;

// The result of a run without cuts.
asio::awaitable<void> expect_the_uncut_results(client& c, std::string const& prefix) {
  for (int i = 1; i <= increments; ++i) {
    std::int64_t const sum = co_await c.increment(prefix + "/counter");
    BOOST_TEST(sum == i);
    if (i % 10 != 0) continue;
    std::string const key = prefix + "/key/" + std::to_string(i);
    co_await c.put(key, "value");
    std::string const value = co_await c.get(key);
    BOOST_TEST(value == "value");
    round_number const round = co_await c.barrier(prefix);
    BOOST_TEST(round.value == static_cast<std::uint64_t>(i / 10));
    errc code = errc::ok;
    try {
      co_await c.put(key, "again");
    } catch (error const& e) {
      code = e.outcome().code();
    }
    BOOST_TEST(code == errc::already_exists);
  }
  std::vector<key_value> const keys = co_await c.list(prefix + "/key");
  BOOST_TEST(keys.size() == 10U);
  std::string const counter = co_await c.get(prefix + "/counter");
  BOOST_TEST(counter == std::to_string(increments));
}

asio::awaitable<void> run_until_cut_enough(cut_proxy& proxy, server::server& coordinator) {
  client_options options{proxy.address(), task_id{0}};
  client c = co_await client::connect(options);
  co_await c.join();
  for (int run = 0; proxy.cuts() < cuts_wanted; ++run) {
    co_await expect_the_uncut_results(c, "run-" + std::to_string(run));
  }
  BOOST_TEST(c.reconnects() > 0U);
  co_await c.leave();
  proxy.stop();
  coordinator.stop("done");
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_hundred_cuts_of_real_connections_change_no_result) {
  asio::io_context io{1};
  server::options options;
  server::server coordinator{io, options};
  std::string const address = coordinator.addresses().front();
  auto const port = std::stoul(address.substr(address.rfind(':') + 1));
  cut_proxy proxy{io, static_cast<std::uint16_t>(port), 1, 2000};
  std::exception_ptr problem;
  auto const finished = [&](std::exception_ptr p) {
    problem = p;
    if (p) io.stop();
  };
  co_spawn(io, coordinator.run(), asio::detached);
  co_spawn(io, proxy.run(), asio::detached);
  co_spawn(io, run_until_cut_enough(proxy, coordinator), finished);

  io.run();

  if (problem) std::rethrow_exception(problem);
  BOOST_TEST(proxy.cuts() >= cuts_wanted);
}

}  // namespace coxswain::faults
