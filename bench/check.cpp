// The workload `check`: the same barriers by simulated tasks and by real client processes, whose
// requests must be the same to the byte.

#include "census.hpp"
#include "crowd.hpp"
#include "real_clients.hpp"
#include "rounds.hpp"
#include "workloads.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr char const* simulated = "simulated";
constexpr char const* processes = "processes";

std::string count_text(census const& of, std::string const& request) {
  auto const at = of.by_request().find(request);
  if (at == of.by_request().end()) return "0";
  return fmt::format("{} ({})", grouped(at->second.frames), grouped(at->second.bytes));
}

std::uint64_t requests_in(census const& of) {
  std::uint64_t sum = 0;
  for (auto const& [what, counted] : of.by_request()) {
    if (what != "heartbeat") sum += counted.frames;
  }
  return sum;
}

std::string side_by_side(census const& one, census const& other) {
  auto const line = [](std::string_view what, std::string_view b, std::string_view a) {
    return fmt::format("{:<26}{:>21}{:>21}\n", what, b, a);
  };
  auto text = line("what the servers were told", processes, simulated);
  text += line("  connections", grouped(other.connections()), grouped(one.connections()));
  std::set<std::string> all;
  for (auto const& [what, _] : one.by_request()) all.insert(what);
  for (auto const& [what, _] : other.by_request()) all.insert(what);
  for (auto const& what : all) {
    text += line("  " + what, count_text(other, what), count_text(one, what));
  }
  return text + line("  requests taken in a turn",
                     fmt::format("{:.2f}", other.requests_in_a_turn()),
                     fmt::format("{:.2f}", one.requests_in_a_turn()));
}

finding compare(std::string_view ours, std::string_view others) {
  census const one{ours};
  census const other{others};
  auto const where = census::difference(one, simulated, other, processes);
  finding found;
  found.is_good = !where;
  found.text = side_by_side(one, other);
  found.text += where ? "DIFFERENT: " + *where + ".\n"
                      : "The requests of each task are the same to the byte, but for its label and "
                        "its incarnation.\n";
  found.figures = {{"requests_differ", where ? std::uint64_t{1} : 0},
                   {"requests_of_simulated", requests_in(one)},
                   {"requests_of_processes", requests_in(other)}};
  return found;
}

struct check_options {
  std::uint32_t tasks{100};
  std::string arrivals{"together"};
};

void add_check(CLI::App& to, check_options& o) {
  add_number(to, "--tasks", o.tasks, 1, 1'000, "Tasks, and client processes");
  to.add_option("--arrivals", o.arrivals,
                "When the simulated tasks arrive: together, ordered, or jittered:6ms, at random "
                "moments within so long a time, as those of the processes do")
      ->capture_default_str();
}

plan plan_check(check_options const& o) {
  plan p;
  p.words = rounds_words("check", "barrier over " + counted(o.tasks, "simulated task") +
                                      " and as many client processes");
  p.words.measured = simulated;
  p.parameters = {{"tasks", o.tasks}};
  p.steps = std::clamp<std::uint64_t>(5'000 / o.tasks, 5, 50);
  // Those of the load are sockets to its children, or to the server.
  p.ours = p.others = {o.tasks, 0};
  p.job.num_tasks = o.tasks;
  p.record_bytes_max = std::size_t{1} << 30;
  p.compare = compare;
  p.make_load = [o, how = arrivals::parse(o.arrivals)](side_kind kind,
                                                       address server) -> std::unique_ptr<load> {
    if (kind == side_kind::processes) {
      return std::make_unique<real_clients>(server.text(), o.tasks);
    }
    return std::make_unique<rounds_load>(
        crowd{std::move(server), make_peer(kind, o.tasks), {o.tasks, o.tasks}}, round_shape{}, how);
  };
  return p;
}

}  // namespace

workload make_check() {
  auto w = described<check_options>(
      "check",
      "Whether the simulated tasks are like real ones: the same barriers by them and by as many "
      "client processes. Fails if their requests are not the same to the byte",
      add_check, plan_check);
  w.always_beside = side_kind::processes;
  return w;
}

}  // namespace coxswain::bench
