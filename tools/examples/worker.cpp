// A worker of a distributed job, as the README shows it. Eight of them, on this machine:
//
//   coxswain run -n 8 -- coxswain-example-worker --rounds 1000

#include "coxswain/client/client.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

using namespace coxswain;

asio::awaitable<void> work(int rounds) {
  client job = co_await client::connect(client_options::from_environment());
  co_await job.join();

  auto const me = job.task()->value;
  auto const devices = co_await job.all_gather("devices", "gpu-" + std::to_string(me));

  auto const next = (me + 1) % job.num_tasks();
  co_await job.put("address/" + std::to_string(me), "10.0.0." + std::to_string(me) + ":5000");
  auto const neighbour = co_await job.get("address/" + std::to_string(next));

  for (int round = 0; round < rounds; ++round) co_await job.barrier("step", 60s);

  std::cout << devices.size()
            << " devices, from " + devices.front() + " to " + devices.back() + "; neighbour at " +
                   neighbour + "; " + std::to_string(rounds) + " rounds\n";
  co_await job.leave();
}

int main(int argc, char** argv) try {
  CLI::App program{"Joins the job that the environment names, waits at barriers, and leaves."};
  int rounds = 100;
  program.add_option("--rounds", rounds, "How many barriers to wait at")->capture_default_str();
  CLI11_PARSE(program, argc, argv);

  asio::io_context io{1};
  auto report = [](std::exception_ptr problem) {
    if (problem) std::rethrow_exception(problem);
  };
  asio::co_spawn(io, work(rounds), report);
  io.run();
} catch (error const& problem) {
  std::cerr << problem.what() << '\n';
  return 1;
}
