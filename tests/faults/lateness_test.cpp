// Deadlines on a real loop: never early, and hardly late.

#include "coxswain/client/client.hpp"
#include "coxswain/server/server.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

namespace coxswain::faults {
namespace {

constexpr int barriers = 500;
constexpr int at_once = 50;

asio::awaitable<void> wait_in_vain(client& c, std::string name, int& answered) {
  auto const begin = std::chrono::steady_clock::now();
  errc code = errc::ok;
  std::string text;
  std::string missing;
  try {
    co_await c.barrier(name, 200ms);
  } catch (error const& e) {
    code = e.outcome().code();
    text = e.what();
    missing = e.details()->missing;
  }
  BOOST_TEST((std::chrono::steady_clock::now() - begin >= 200ms));
  BOOST_TEST(code == errc::deadline_exceeded);
  BOOST_TEST(text.starts_with("DEADLINE_EXCEEDED: Barrier timed out. Barrier '" + name + "'"));
  BOOST_TEST(text.find("1 of 2 tasks is missing: 1 (connected") != std::string::npos);
  BOOST_TEST(missing == "1");
  ++answered;
}

asio::awaitable<void> join(client& c, bool& joined) {
  co_await c.join();
  joined = true;
}

asio::awaitable<void> run(std::string address, server::server& coordinator, int& answered) {
  asio::any_io_executor const executor = co_await asio::this_coro::executor;
  client_options const first{address, task_id{0}};
  client_options const second{address, task_id{1}};
  client a = co_await client::connect(first);
  client b = co_await client::connect(second);
  bool joined = false;
  co_spawn(executor, join(b, joined), asio::detached);
  co_await a.join();
  for (int batch = 0; batch < barriers / at_once; ++batch) {
    std::string const prefix = "in vain " + std::to_string(batch) + "/";
    for (int i = 1; i < at_once; ++i) {
      co_spawn(executor, wait_in_vain(a, prefix + std::to_string(i), answered), asio::detached);
    }
    co_await wait_in_vain(a, prefix + "0", answered);
  }
  while (answered < barriers) co_await a.try_get("a breath");
  core::snapshot const s = co_await a.inspect();
  BOOST_TEST(s.deadlines_answered == static_cast<std::uint64_t>(barriers));
  // Other load of the machine counts, too.
  BOOST_TEST((s.lateness_p99 <= 1s));
  coordinator.stop("done");
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_barrier_timeout_is_never_early_and_hardly_late) {
  asio::io_context io{1};
  server::options options;
  options.core.num_tasks = 2;
  server::server coordinator{io, options};
  int answered = 0;
  std::exception_ptr problem;
  auto const finished = [&](std::exception_ptr p) {
    problem = p;
    if (p) io.stop();
  };
  co_spawn(io, coordinator.run(), asio::detached);
  co_spawn(io, run(coordinator.addresses().front(), coordinator, answered), finished);

  io.run();

  if (problem) std::rethrow_exception(problem);
  BOOST_TEST(answered == barriers);
}

}  // namespace coxswain::faults
