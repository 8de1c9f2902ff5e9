// coxswain-bench: measures a coordinator, also beside the least that a server can do.

#include "studies/experiment.hpp"
#include "workloads/workloads.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <map>

namespace {

using namespace coxswain::bench;

struct command_line {
  experiment_options how;
  bool floor{};
  std::string floor_trigger{"edge"};
  std::string floor_transport;
  std::optional<side_kind> rival;
  std::string json;
};

void add_sampling(CLI::App& cmd, experiment_options& o, bool uses_up_servers) {
  if (uses_up_servers) {  // each sample is one round
    cmd.add_option("--rounds", o.steps, "How often, without --floor (default: 10 times)")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
        ->excludes(cmd.get_option("--floor"));
    return;
  }
  auto* steps = cmd.add_option("--rounds", o.steps,
                               "Rounds, or operations, in all; with --floor: in each sample")
                    ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  auto* seconds = cmd.add_option("--seconds", o.seconds,
                                 "Instead of --rounds: how long all samples together are to take")
                      ->check(CLI::Range(0.1, 86'400.0))
                      ->excludes(steps);
  cmd.add_option("--warm-up", o.warm_up,
                 "Rounds, or operations, before the first sample (default: as many as in one)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000'000}))
      ->excludes(seconds);
}

void add_pairs(CLI::App& cmd, experiment_options& o) {
  add_number(cmd, "--pairs", o.pairs, 1, 100'000,
             "Pairs of samples to compare, with --floor or --vs");
}

void add_floor(CLI::App& cmd, command_line& given) {
  auto* floor = cmd.add_flag("--floor", given.floor,
                             "Compare with a plain epoll server that moves the same bytes, in "
                             "interleaved samples, and print the ratios");
  add_pairs(cmd, given.how);
  cmd.add_option("--vs", given.rival,
                 "Instead of --floor: compare with redis or etcd, which is started without "
                 "persistence, and used in the best way known (README.md)")
      ->transform(CLI::CheckedTransformer{
          std::map<std::string, side_kind>{{"redis", side_kind::redis}, {"etcd", side_kind::etcd}}})
      ->excludes(floor);
  cmd.add_flag("--calibrate", given.how.calibrate,
               "Put a second floor in Coxswain's place: how far from 1 the ratios then are, is how "
               "far they can be trusted here")
      ->needs(floor);
  cmd.add_option("--floor-trigger", given.floor_trigger,
                 "How the floor uses epoll (with --calibrate: only the first one)")
      ->needs(floor)
      ->check(CLI::IsMember{{"edge", "level"}})
      ->capture_default_str();
  cmd.add_option("--floor-transport", given.floor_transport,
                 "What the floor is reached by (default: as the coordinator; TCP if that is TLS)")
      ->needs(floor)
      ->check(CLI::IsMember{{"tcp"}});
}

// What all commands have. Returns the transport.
CLI::Option* add_output(CLI::App& cmd, command_line& given, bool may_speak_tls) {
  std::vector<std::string> transports{"tcp", "unix"};
  if (may_speak_tls) transports.emplace_back("tls");
  cmd.add_option("--json", given.json,
                 "Write the results to this file as well; bench/plot draws them");
  return cmd
      .add_option("--transport", given.how.transport,
                  may_speak_tls ? "What the coordinator is reached by; the floor never speaks TLS"
                                : "What the coordinator is reached by")
      ->check(CLI::IsMember{transports})
      ->capture_default_str();
}

void add_common(CLI::App& cmd, command_line& given, workload const& work) {
  if (work.always_beside)
    add_pairs(cmd, given.how);
  else if (work.has_floor)
    add_floor(cmd, given);
  add_sampling(cmd, given.how, work.uses_up_servers);
  auto* transport = add_output(cmd, given, !work.always_beside);
  if (work.uses_up_servers || work.always_beside) return;
  auto* address =
      cmd.add_option("--address", given.how.address,
                     "A coordinator on this machine that runs already, for as many tasks: "
                     "127.0.0.1:7000 or unix:/path (default: start one)")
          ->excludes(transport);
  if (work.has_floor) address->excludes(cmd.get_option("--calibrate"));
  cmd.add_option("--server-pid", given.how.server_pid, "Its process, to measure its CPU")
      ->needs(address);
}

void check_rival(workload const& work, side_kind rival) {
  auto const has = [rival](workload const& w) {
    return std::find(w.rivals.begin(), w.rivals.end(), rival) != w.rivals.end();
  };
  if (has(work)) return;
  std::string able;
  for (auto const& other : all_workloads()) {
    if (has(other)) able += (able.empty() ? "" : ", ") + other.name;
  }
  refuse("--vs {}: there is nothing like {} to compare with. There is for: {}", name(rival),
         work.name, able);
}

findings measure(workload const& work, command_line const& given) {
  auto asked = work.make();
  asked.uses_up_servers = work.uses_up_servers;
  auto how = given.how;
  how.floor_on_tcp = given.floor_transport == "tcp";
  how.floor_trigger = given.floor_trigger == "level" ? trigger::level : trigger::edge;
  if (given.rival) check_rival(work, *given.rival);
  how.beside = given.rival ? given.rival : work.always_beside;
  if (given.floor) how.beside = side_kind::floor;
  return run_experiment(asked, how);
}

int run(command_line const& given, std::function<findings()> const& measured) try {
  // Opened before the measurement: nobody wants to learn of a wrong path after it.
  std::ofstream file;
  if (!given.json.empty()) {
    file.open(given.json);
    if (!file) refuse("cannot write '{}' (--json)", given.json);
  }
  auto const found = measured();
  std::fputs(found.table.c_str(), stdout);
  file << serialize(found.document) << std::endl;
  if (!given.json.empty() && !file) {
    throw bench_error{"could not write all of '" + given.json + "'"};
  }
  return static_cast<int>(found.is_good ? exit_code::ok : exit_code::failed);
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
  std::vector<std::pair<CLI::App*, std::function<findings()>>> commands;
  for (auto const& work : all_workloads()) {
    auto* const cmd = app.add_subcommand(work.name, work.help);
    work.add_options(*cmd);
    add_common(*cmd, given, work);
    commands.emplace_back(cmd, [work, &given] { return measure(work, given); });
  }
  for (auto const& what : {make_growth(), make_history()}) {
    auto* const cmd = app.add_subcommand(what.name, what.help);
    what.add_options(*cmd);
    add_output(*cmd, given, false);
    commands.emplace_back(cmd, [what, &given] { return what.run(given.how.transport); });
  }
  auto const run_client = add_client_process(app);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& problem) {
    return app.exit(problem) == 0 ? 0 : static_cast<int>(exit_code::usage);
  }
  if (run_client()) return static_cast<int>(exit_code::ok);
  for (auto const& [cmd, measured] : commands) {
    if (cmd->parsed()) return run(given, measured);
  }
  return static_cast<int>(exit_code::usage);
}
