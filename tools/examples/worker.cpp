// A worker of a distributed job, as in the README. To run four of them on this machine:
//
//   coxswain run -n 4 -- coxswain-example-worker --rounds 1000

#include "coxswain/client/client.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace coxswain;

void report(std::vector<std::string> const& devices, std::string const& neighbour, int rounds) {
  std::cout << std::to_string(devices.size()) + " devices, from " + devices.front() + " to " +
                   devices.back() + "; neighbour at " + neighbour + "; " + std::to_string(rounds) +
                   " rounds\n";
}

asio::awaitable<void> work(int rounds) {
  client job = co_await client::connect_and_join(client_options::from_environment());
  auto const me = job.task()->value;
  auto const devices = co_await job.all_gather("devices", "gpu-" + std::to_string(me));
  co_await job.put("address/" + std::to_string(me), "10.0.0." + std::to_string(me) + ":5000");
  auto const next = std::to_string((me + 1) % job.num_tasks());
  auto const neighbour = co_await job.get("address/" + next);  // waits for the value
  for (int round = 0; round < rounds; ++round) co_await job.barrier("step", 60s);
  report(devices, neighbour, rounds);
  co_await job.leave();
}

int main(int argc, char** argv) try {
  CLI::App program{"Joins the job that the environment names, waits at barriers, and leaves."};
  int rounds = 100;
  program.add_option("--rounds", rounds, "How many barriers to wait at")->capture_default_str();
  CLI11_PARSE(program, argc, argv);

  asio::io_context io{1};
  auto rethrow = [](std::exception_ptr problem) {
    if (problem) std::rethrow_exception(problem);
  };
  asio::co_spawn(io, work(rounds), rethrow);
  io.run();
} catch (error const& problem) {
  std::cerr << problem.what() << '\n';
  return 1;
}
