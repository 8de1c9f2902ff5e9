// coxswain-bench: measures a coordinator, also beside the least that a server can do.

#include "bench_error.hpp"
#include "experiment.hpp"
#include "plot.hpp"
#include "real_clients.hpp"
#include "report.hpp"
#include "study.hpp"
#include "workloads.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace coxswain::bench;

struct command_line {
  experiment_options how;
  std::string transport{"tcp"};
  std::string floor_trigger{"edge"};
  std::string floor_transport;
  std::optional<side_kind> rival;
  std::string json;
  std::string plot;
};

// Of a workload that uses up its servers each sample is one round.
void add_sampling_of_rounds(CLI::App& cmd, experiment_options& o) {
  cmd.add_option("--rounds", o.steps, "How often, without --floor (default: 10 times)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
      ->excludes(cmd.get_option("--floor"));
}

void add_sampling(CLI::App& cmd, experiment_options& o) {
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

CLI::Option* add_pairs(CLI::App& cmd, experiment_options& o) {
  return cmd.add_option("--pairs", o.pairs, "Pairs of samples to compare, with --floor or --vs")
      ->check(CLI::Range(1U, 100'000U))
      ->capture_default_str();
}

void add_floor(CLI::App& cmd, command_line& given) {
  auto& o = given.how;
  auto* floor = cmd.add_flag("--floor", o.floor,
                             "Compare with a plain epoll server that moves the same bytes, in "
                             "interleaved samples, and print the ratios");
  add_pairs(cmd, o);
  cmd.add_option("--vs", given.rival,
                 "Instead of --floor: compare with redis or etcd, which is started without "
                 "persistence, and used in the best way known (README.md)")
      ->transform(CLI::CheckedTransformer{
          std::map<std::string, side_kind>{{"redis", side_kind::redis}, {"etcd", side_kind::etcd}}})
      ->excludes(floor);
  cmd.add_flag("--calibrate", o.calibrate,
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

// What all commands have. Returns the transport. `picture` is what it shows.
CLI::Option* add_output(CLI::App& cmd, command_line& given, std::string const& picture,
                        bool may_speak_tls) {
  std::vector<std::string> transports{"tcp", "unix"};
  if (may_speak_tls) transports.emplace_back("tls");
  cmd.add_option("--json", given.json, "Write the results to this file as well");
  cmd.add_option("--plot", given.plot, "Write a picture to this SVG file: " + picture);
  return cmd
      .add_option("--transport", given.transport,
                  may_speak_tls ? "What the coordinator is reached by; the floor never speaks TLS"
                                : "What the coordinator is reached by")
      ->check(CLI::IsMember{transports})
      ->capture_default_str();
}

// What all workloads have.
void add_common(CLI::App& cmd, command_line& given, workload const& work) {
  if (work.always_beside())
    add_pairs(cmd, given.how);
  else if (work.has_floor())
    add_floor(cmd, given);
  if (work.uses_up_servers())
    add_sampling_of_rounds(cmd, given.how);
  else
    add_sampling(cmd, given.how);
  auto* transport = add_output(cmd, given, "how the times of the first latency are distributed",
                               !work.always_beside());
  if (work.uses_up_servers() || work.always_beside()) return;
  auto* address =
      cmd.add_option("--address", given.how.address,
                     "A coordinator on this machine that runs already, for as many tasks: "
                     "127.0.0.1:7000 or unix:/path (default: start one)")
          ->excludes(transport);
  if (work.has_floor()) address->excludes(cmd.get_option("--calibrate"));
  cmd.add_option("--server-pid", given.how.server_pid, "Its process, to measure its CPU")
      ->needs(address);
}

// A file that is given with an option, if it is.
class output {
 public:
  // Opened before the measurement: nobody wants to learn of a wrong path after it.
  output(std::string path, std::string const& option) : path_{std::move(path)} {
    if (path_.empty()) return;
    file_.open(path_);
    if (!file_)
      throw bench_error{"cannot write '" + path_ + "' (" + option + ")", exit_code::usage};
  }
  void write(std::string const& text) {
    if (path_.empty()) return;
    file_ << text << std::flush;
    if (!file_) throw bench_error{"could not write all of '" + path_ + "'"};
  }

 private:
  std::string path_;
  std::ofstream file_;
};

void check_rival(workload const& work, side_kind rival) {
  auto const known = work.rivals();
  if (std::find(known.begin(), known.end(), rival) != known.end()) return;
  std::string able;
  for (auto const& other : all_workloads()) {
    auto const of_other = other->rivals();
    if (std::find(of_other.begin(), of_other.end(), rival) == of_other.end()) continue;
    able += (able.empty() ? "" : ", ") + other->words().name;
  }
  throw bench_error{"--vs " + name(rival) + ": there is nothing like " + work.words().name +
                        " to compare with. There is for: " + able,
                    exit_code::usage};
}

findings measure(workload const& work, command_line const& given) {
  work.check();
  auto how = given.how;
  how.unix_sockets = given.transport == "unix";
  how.floor_on_tcp = given.floor_transport == "tcp";
  how.tls = given.transport == "tls";
  how.floor_trigger = given.floor_trigger == "level" ? trigger::level : trigger::edge;
  if (given.rival) check_rival(work, *given.rival);
  if (auto const beside = given.rival ? given.rival : work.always_beside()) {
    how.floor = true;
    how.beside = *beside;
  }
  auto const found = run_experiment(work, how);
  bool const is_good = !found.shown || found.shown->is_good;
  return {to_table(found), to_json(found), to_svg(found), is_good};
}

findings measure(study const& what, command_line const& given) {
  what.check();
  return what.run(given.transport == "unix");
}

template <class What>
int run(What const& what, command_line const& given) try {
  output json{given.json, "--json"};
  output plot{given.plot, "--plot"};
  auto const found = measure(what, given);
  std::fputs(found.table.c_str(), stdout);
  json.write(found.json);
  plot.write(found.svg);
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
  auto const workloads = all_workloads();
  std::vector<CLI::App*> commands;
  for (auto const& work : workloads) {
    commands.push_back(work->add_to(app));
    add_common(*commands.back(), given, *work);
  }
  auto const studies = all_studies();
  std::vector<CLI::App*> study_commands;
  for (auto const& s : studies) {
    study_commands.push_back(s->add_to(app));
    add_output(*study_commands.back(), given, "what grows, and how", false);
  }
  client_process client;
  auto* const as_client = client.add_to(app);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& problem) {
    return app.exit(problem) == 0 ? 0 : static_cast<int>(exit_code::usage);
  }
  if (as_client->parsed()) {
    client.run();
    return static_cast<int>(exit_code::ok);
  }
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (commands[i]->parsed()) return run(*workloads[i], given);
  }
  for (std::size_t i = 0; i < study_commands.size(); ++i) {
    if (study_commands[i]->parsed()) return run(*studies[i], given);
  }
  return static_cast<int>(exit_code::usage);
}
