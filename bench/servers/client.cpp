// Real clients: one, with which `check` compares the simulated tasks; and those of a whole job, for
// bench/restart.

#include "bench_error.hpp"
#include "load/tally.hpp"
#include "servers/roles.hpp"

#include "coxswain/client/client.hpp"
#include "coxswain/net/asio.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value_to.hpp>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <utility>

#include <unistd.h>

namespace coxswain::bench {
namespace {

std::int64_t nanoseconds(time_point at) { return at.time_since_epoch().count(); }

// The clock is the same in all processes.
asio::awaitable<void> do_rounds(client& of, std::uint64_t rounds) {
  boost::json::array called;
  boost::json::array returned;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    called.push_back(nanoseconds(now()));
    co_await of.barrier("step");
    returned.push_back(nanoseconds(now()));
  }
  boost::json::object const took{{"called", std::move(called)}, {"returned", std::move(returned)}};
  say(took);
}

asio::awaitable<void> take_part(client_options how) {
  auto const executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor commands{executor, ::dup(STDIN_FILENO)};
  client self = co_await client::connect(std::move(how));
  boost::json::object const connected{{"connected", true}};
  say(connected);
  co_await self.join();
  boost::json::object const joined{{"joined", true}};
  say(joined);
  for (;;) {
    co_await commands.async_wait(asio::posix::descriptor_base::wait_read, asio::use_awaitable);
    std::string rounds;
    if (!std::getline(std::cin, rounds)) co_return;
    if (rounds == "finish") break;
    co_await do_rounds(self, std::stoull(rounds));
  }
  co_await self.leave();
  boost::json::object const left{{"left", true}};
  say(left);
}

// Rounds that the tasks of a whole job have completed.
struct completed_rounds {
  std::uint32_t tasks{};
  std::uint32_t released{};  // of the present round
  boost::json::array when{};

  void release() {
    if (++released < tasks) return;
    released = 0;
    when.push_back(nanoseconds(now()));
  }
};

asio::awaitable<void> do_rounds_forever(client_options how, completed_rounds& all) {
  client self = co_await client::connect(std::move(how));
  co_await self.join();
  for (std::uint64_t round = 1;; ++round) {
    auto const released = co_await self.barrier("step");
    if (released.value != round) throw bench_error{"a round was lost, or released twice"};
    all.release();
  }
}

asio::awaitable<void> tell_rounds(completed_rounds const& all) {
  auto const executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor commands{executor, ::dup(STDIN_FILENO)};
  for (std::string line;;) {
    co_await commands.async_wait(asio::posix::descriptor_base::wait_read, asio::use_awaitable);
    if (!std::getline(std::cin, line)) std::_Exit(0);
    boost::json::object const told{{"completed", all.when}};
    say(told);
  }
}

}  // namespace

void run_clients(boost::json::object const& given) {
  auto const address = boost::json::value_to<std::string>(given.at("address"));
  completed_rounds all{boost::json::value_to<std::uint32_t>(given.at("tasks"))};
  asio::io_context io{1};
  auto pass_on = [](std::exception_ptr problem) {
    if (problem) std::rethrow_exception(problem);
  };
  for (std::uint32_t task = 0; task < all.tasks; ++task) {
    asio::co_spawn(io, do_rounds_forever({address, task_id{task}}, all), pass_on);
  }
  asio::co_spawn(io, tell_rounds(all), pass_on);
  io.run();
}

void run_client(boost::json::object const& given) {
  client_options how{boost::json::value_to<std::string>(given.at("address")),
                     task_id{boost::json::value_to<std::uint32_t>(given.at("task"))}};
  asio::io_context io{1};
  std::exception_ptr problem;
  auto const ended = [&problem](std::exception_ptr why) { problem = std::move(why); };
  asio::co_spawn(io, take_part(std::move(how)), ended);
  io.run();
  if (problem) std::rethrow_exception(problem);
}

}  // namespace coxswain::bench
