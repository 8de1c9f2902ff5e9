// coxswain-bench: measures a coordinator, also beside the least that a server can do.

#include "barrier.hpp"
#include "bench_error.hpp"
#include "report.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

namespace {

using namespace coxswain::bench;

struct command_line {
  barrier_options barrier;
  std::string transport{"tcp"};
  std::string floor_trigger{"edge"};
  std::string json;
};

void describe_barrier(CLI::App& app, command_line& given) {
  auto& o = given.barrier;
  auto& cmd = *app.add_subcommand(
      "barrier",
      "All tasks arrive, all are released: the time from the last arrival sent to the "
      "last release received, and the server's CPU");
  cmd.add_option("--tasks", o.tasks, "Simulated tasks, each on a connection of its own")
      ->required()
      ->check(CLI::Range(1U, 1'000'000U));
  cmd.add_option("--rounds", o.rounds, "Rounds in all; with --floor: in each sample")
      ->check(CLI::Range(1U, 10'000'000U));
  auto* floor = cmd.add_flag("--floor", o.floor,
                             "Compare with a plain epoll server that moves the same bytes, in "
                             "interleaved samples, and print the ratios");
  cmd.add_option("--pairs", o.pairs, "Pairs of samples to compare")
      ->needs(floor)
      ->check(CLI::Range(1U, 100'000U))
      ->capture_default_str();
  auto* address = cmd.add_option("--address", o.address,
                                 "A coordinator on this machine that runs already, for as many "
                                 "tasks: 127.0.0.1:7000 or unix:/path (default: start one)");
  cmd.add_option("--server-pid", o.server_pid, "Its process, to measure its CPU")->needs(address);
  cmd.add_flag("--calibrate", o.calibrate,
               "Put a second floor in Coxswain's place: how far from 1 the ratios then are, is how "
               "far they can be trusted here")
      ->needs(floor)
      ->excludes(address);
  cmd.add_option("--transport", given.transport, "tcp or unix")
      ->check(CLI::IsMember{{"tcp", "unix"}})
      ->excludes(address)
      ->capture_default_str();
  cmd.add_option("--floor-trigger", given.floor_trigger,
                 "How the floor uses epoll (with --calibrate: only the first one)")
      ->needs(floor)
      ->check(CLI::IsMember{{"edge", "level"}})
      ->capture_default_str();
  cmd.add_option("--json", given.json, "Write the results to this file as well");
}

// Opened before the measurement: nobody wants to learn of a wrong path after it.
std::ofstream open_json(std::string const& path) {
  std::ofstream file;
  if (path.empty()) return file;
  file.open(path);
  if (!file) throw bench_error{"cannot write '" + path + "' (--json)", exit_code::usage};
  return file;
}

int run(command_line const& given) try {
  auto json = open_json(given.json);
  auto options = given.barrier;
  options.unix_sockets = given.transport == "unix";
  options.floor_trigger = given.floor_trigger == "level" ? trigger::level : trigger::edge;
  auto const report = measure_barrier(options);
  std::fputs(to_table(report).c_str(), stdout);
  if (json.is_open()) {
    json << to_json(report) << std::flush;
    if (!json) throw bench_error{"could not write all of '" + given.json + "'"};
  }
  return static_cast<int>(exit_code::ok);
} catch (bench_error const& problem) {
  std::fprintf(stderr, "coxswain-bench: %s\n", problem.what());
  return static_cast<int>(problem.code());
} catch (std::exception const& problem) {
  std::fprintf(stderr, "coxswain-bench: %s\n", problem.what());
  return static_cast<int>(exit_code::failed);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures Coxswain. Only this machine's loopback and Unix sockets are used."};
  app.name("coxswain-bench");
  app.require_subcommand(1);
  command_line given;
  describe_barrier(app, given);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& problem) {
    return app.exit(problem) == 0 ? 0 : static_cast<int>(exit_code::usage);
  }
  return run(given);
}
