// Simulates whole jobs, seed after seed, and reports the violated rules.
//
//   simulation [--seeds=N] [--first=S] [--bug=NAME] [--all-bugs] [--verbose] [--record=DIR]
//              [--snapshots] [--elastic | --epochs=N] [--relays]
//
// With --elastic the number of tasks of each job changes. With --epochs it runs elastic jobs of 32
// tasks until they have had N epochs. With --relays every job has relays, and not only one in
// eight.
// With --snapshots the coordinator is saved and loaded in each step, and must be the same; and the
// job is replayed by one that is saved and loaded at random.
// With --record it keeps a recording of each job, until its coordinator is restarted, for `coxswain
// replay --compare`.
// Without a bug it exits with 1 if a rule was violated, and prints how to run that job again.
// With one, it exits with 1 if none of the N jobs showed the bug.

#include "tests/sim/everything/job.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::sim {
namespace {

struct command_line {
  std::uint64_t seeds{500};
  std::uint64_t first{1};
  std::string bug;
  bool all_bugs{};
  bool verbose{};
  bool snapshots{};
  bool elastic{};
  bool relays{};
  std::uint64_t epochs{};

  [[nodiscard]] job_kind kind() const {
    if (epochs > 0) return job_kind::large;
    return elastic ? job_kind::elastic : job_kind::fixed;
  }
  std::optional<std::filesystem::path> record_to;
};

bool take_number(std::string_view argument, std::string_view name, std::uint64_t& into) {
  if (!argument.starts_with(name)) return false;
  argument.remove_prefix(name.size());
  auto const [end, error] =
      std::from_chars(argument.data(), argument.data() + argument.size(), into);
  return error == std::errc{} && end == argument.data() + argument.size();
}

std::optional<command_line> read(int count, char** arguments) {
  command_line w;
  for (int i = 1; i < count; ++i) {
    std::string_view const one = arguments[i];
    if (one.starts_with("--bug=")) {
      w.bug = one.substr(std::string_view{"--bug="}.size());
    } else if (one.starts_with("--record=")) {
      w.record_to = one.substr(std::string_view{"--record="}.size());
    } else if (one == "--all-bugs") {
      w.all_bugs = true;
    } else if (one == "--snapshots") {
      w.snapshots = true;
    } else if (one == "--elastic") {
      w.elastic = true;
    } else if (one == "--relays") {
      w.relays = true;
    } else if (one == "--verbose") {
      w.verbose = true;
    } else if (!take_number(one, "--seeds=", w.seeds) && !take_number(one, "--first=", w.first) &&
               !take_number(one, "--epochs=", w.epochs)) {
      return std::nullopt;
    }
  }
  return w;
}

// A violated invariant aborts the program.
volatile std::uint64_t seed_that_runs = 0;
std::string options_that_run;

std::string options(command_line const& w) {
  std::string const relays = w.relays ? " --relays" : "";
  if (w.kind() == job_kind::fixed) return relays;
  return relays + (w.kind() == job_kind::elastic ? " --elastic" : " --epochs=1");
}

extern "C" void say_seed(int) {
  std::cout << "seed " << seed_that_runs << " ended the program; again: simulation --seeds=1 "
            << "--first=" << seed_that_runs << options_that_run << " --verbose" << std::endl;
  std::_Exit(1);
}

void print(violations const& found, bool all) {
  constexpr std::size_t few = 5;
  for (std::size_t i = 0; i < found.size() && (all || i < few); ++i) {
    std::cout << "  " << found[i].substr(0, 400) << '\n';
  }
  if (!all && found.size() > few) std::cout << "  and " << found.size() - few << " more\n";
}

// All calls and events in the order of time.
void print_history(history const& h) {
  std::multimap<time_point, std::string> lines;
  for (call_record const& c : h.calls) lines.emplace(c.made, h.text(c));
  for (event_record const& e : h.events) {
    lines.emplace(e.at, h.text(e.at) + ": " + e.what.what.text);
  }
  for (interval const& stall : h.stalls) {
    lines.emplace(stall.from,
                  h.text(stall.from) + ": the coordinator stands still until " + h.text(stall.to));
  }
  for (std::size_t i = 0; i < h.processes.size(); ++i) {
    process_record const& p = h.processes[i];
    std::string const name = ": process " + std::to_string(i) + " ";
    if (p.died) lines.emplace(*p.died, h.text(*p.died) + name + "dies");
    if (p.departed) lines.emplace(*p.departed, h.text(*p.departed) + name + "says Bye");
    if (p.ended) lines.emplace(*p.ended, h.text(*p.ended) + name + "ends: " + p.why_ended.text());
    for (trouble const& t : p.troubles) {
      lines.emplace(t.from, h.text(t.from) + name + "is in trouble until " + h.text(t.to) +
                                (t.is_of_relay ? ", as its relay is" : ""));
    }
  }
  for (auto const& [_, line] : lines) std::cout << line.substr(0, 300) << '\n';
}

std::uint64_t epochs_of(history const& h) {
  std::uint64_t last = 0;
  for (call_record const& c : h.calls) last = std::max(last, c.epoch);
  return last;
}

int run(command_line const& w) {
  auto const begun = std::chrono::steady_clock::now();
  std::uint64_t broken = 0;
  std::uint64_t epochs = 0;
  std::uint64_t seed = w.first;
  for (; seed - w.first < w.seeds && (w.epochs == 0 || epochs < w.epochs); ++seed) {
    if (w.verbose) std::cout << "seed " << seed << std::endl;
    seed_that_runs = seed;
    std::ofstream file;
    std::function<void(std::string_view)> record;
    if (w.record_to) {
      file.open(*w.record_to / ("job-" + std::to_string(seed) + ".recording"), std::ios::binary);
      record = [&file](std::string_view bytes) { file << bytes; };
    }
    job one{seed, nullptr, std::move(record), w.snapshots, w.kind(), w.relays};
    violations const found = one.run();
    epochs += epochs_of(one.seen);
    if (w.record_to && !file.flush()) {
      std::cout << "the recording of seed " << seed << " cannot be written\n";
      return 1;
    }
    if (w.verbose) print_history(one.seen);
    if (found.empty()) continue;
    std::cout << "seed " << seed << " breaks " << found.size()
              << " rules; again: simulation --seeds=1 --first=" << seed << options(w)
              << " --verbose\n";
    print(found, w.verbose);
    if (++broken == 20) break;
  }
  std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - begun;
  std::cout << seed - w.first << " jobs";
  if (epochs > 0) std::cout << " with " << epochs << " epochs";
  std::cout << " in " << taken.count() << " s, " << broken << " broken\n";
  return broken == 0 ? 0 : 1;
}

// Whether the rules find the bug.
bool find(injected_bug const& wrong, command_line const& w) {
  for (std::uint64_t seed = w.first; seed - w.first < w.seeds; ++seed) {
    seed_that_runs = seed;
    job_kind const kind = wrong.is_of_epochs ? job_kind::elastic : job_kind::fixed;
    violations const found =
        job{seed, &wrong, {}, false, kind, w.relays || wrong.is_of_relays}.run();
    if (found.empty()) continue;
    std::cout << wrong.name << " (" << wrong.imitates << "): found by job " << seed - w.first + 1
              << ": " << found.front().substr(0, 300) << std::endl;
    if (w.verbose) print(found, true);
    return true;
  }
  std::cout << wrong.name << " (" << wrong.imitates << "): NOT FOUND by " << w.seeds << " jobs\n";
  return false;
}

int find_bugs(command_line const& w) {
  bool all_found = true;
  for (injected_bug const& one : all_bugs()) {
    if (w.all_bugs || one.name == w.bug) all_found = find(one, w) && all_found;
  }
  return all_found ? 0 : 1;
}

}  // namespace
}  // namespace coxswain::sim

int main(int count, char** arguments) {
  using namespace coxswain::sim;
  std::signal(SIGABRT, &say_seed);
  std::signal(SIGSEGV, &say_seed);
  auto const options = read(count, arguments);
  if (!options || (!options->bug.empty() && !find_bug(options->bug))) {
    std::cerr << "usage: simulation [--seeds=N] [--first=S] [--bug=NAME | --all-bugs] "
                 "[--verbose] [--record=DIR] [--snapshots] [--elastic | --epochs=N] [--relays]\n"
                 "bugs:";
    for (injected_bug const& one : all_bugs()) std::cerr << ' ' << one.name;
    std::cerr << std::endl;
    return 64;
  }
  options_that_run = coxswain::sim::options(*options);
  if (options->all_bugs || !options->bug.empty()) return find_bugs(*options);
  return run(*options);
}
