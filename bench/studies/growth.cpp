// The study `growth`: what a barrier costs over more and more tasks, and by which power of their
// number it grows.

#include "studies/experiment.hpp"
#include "workloads/rounds.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace coxswain::bench {
namespace {

struct growth_options {
  std::uint32_t from{1'000};
  std::uint32_t to{100'000};
  std::uint32_t steps{9};
  std::uint32_t per_session{100};
  std::uint32_t samples{7};
  bool has_floor{};
};

// Barriers over one number of tasks.
struct growth_step {
  std::uint32_t tasks{};
  plan work{};
  side* at{};
  side* floor_at{};  // if there is one
  side_result ours{};
  side_result floor{};
  comparison pairs{};
};

// Of each sample, or of each pair, something that grows with the number of tasks; empty if it is
// not known.
using growing = std::vector<double> (*)(growth_step const&, side_result const&);

std::vector<double> latencies(growth_step const& /*step*/, side_result const& of) {
  std::vector<double> all;
  for (auto const& s : of.samples) all.push_back(s.found.latencies.at(0).percentile(0.5));
  return all;
}

// For one barrier.
std::vector<double> server_cpus(growth_step const& step, side_result const& of) {
  std::vector<double> all;
  for (auto const& s : of.samples) {
    auto const of_a_task = quotient({&s, 1}, server_cpu, operations);
    if (!of_a_task) return {};
    all.push_back(*of_a_task * step.tasks);
  }
  return all;
}

std::vector<double> latency_ratios(growth_step const& step, side_result const& /*of*/) {
  return step.pairs.p50;
}

std::vector<double> server_cpu_ratios(growth_step const& step, side_result const& /*of*/) {
  return step.pairs.server_cpu;
}

// What is fitted: in the table, in the JSON, and what it is of.
struct exponent {
  std::string text;
  std::string key;
  growing what;
  bool of_floor{};
};

std::vector<exponent> exponents_of(vocabulary const& words, bool has_floor) {
  std::vector<exponent> all{
      {"  " + words.latencies[0].text, "latency", latencies},
      {"    of the floor", "floor_latency", latencies, true},
      {"    ours by the floor's", "latency_ratio", latency_ratios, true},
      {"  server CPU for a barrier", "server_cpu", server_cpus},
      {"    of the floor", "floor_server_cpu", server_cpus, true},
      {"    ours by the floor's", "server_cpu_ratio", server_cpu_ratios, true}};
  if (!has_floor) std::erase_if(all, [](exponent const& e) { return e.of_floor; });
  return all;
}

// None if nothing was measured.
std::optional<power_law> fit(exponent const& e, std::vector<growth_step> const& steps) {
  std::vector<point> measured;
  for (auto const& s : steps) {
    for (auto const y : e.what(s, e.of_floor ? s.floor : s.ours)) {
      measured.push_back({static_cast<double>(s.tasks), y});
    }
  }
  return measured.empty() ? std::nullopt : std::optional{power_law::fit(measured)};
}

std::string figures(std::vector<growth_step> const& steps, bool of_floor) {
  constexpr auto row = "{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}{:>11}{:>12}{:>15}{:>11}{:>13}\n";
  auto text = fmt::format(row, "tasks", "sessions", "p50", "p99", "p99.9", "max", "p50/task",
                          "CPU/task", "tasks/s", "load busy", "memory/task");
  for (auto const& s : steps) {
    auto const& of = of_floor ? s.floor : s.ours;
    auto const all = of.latency(0).summarise();
    text += fmt::format(row, grouped(s.tasks), grouped(s.work.ours.connections), time_text(all.p50),
                        time_text(all.p99), time_text(all.p999), time_text(all.max),
                        time_text(all.p50 / s.tasks),
                        or_unknown(quotient(of.samples, server_cpu, operations), time_text),
                        rate_text(1e9 * quotient(of.samples, operations, elapsed).value_or(0)),
                        or_unknown(quotient(of.samples, busy, elapsed), share_text),
                        or_unknown(of.server_bytes_per_task(false), bytes_text));
  }
  return text;
}

std::string table(std::vector<growth_step> const& steps, circumstances const& seen) {
  auto const& first = steps.front();
  auto const& last = steps.back();
  auto const& words = first.work.words;
  auto text = fmt::format(
      "growth: barrier over {} to {} in {} to {}, {} samples of each number, interleaved; {}; "
      "{}\n\n"
      "p50 to max: {}\n",
      grouped(first.tasks), counted(last.tasks, "task"), grouped(first.work.ours.connections),
      counted(last.work.ours.connections, "session"), first.ours.samples.size(), seen.over(),
      seen.cpus.text(), words.latencies[0].text);
  text += figures(steps, false);
  if (first.floor_at) {
    constexpr auto row = "{:>9}   {:<26}{}\n";
    text += "\nthe floor\n" + figures(steps, true) + "\nby the floor's  [95 % interval]\n";
    text += fmt::format(row, "tasks", "p50", "server CPU");
    for (auto const& s : steps) {
      text += fmt::format(row, grouped(s.tasks), ratio_text(s.pairs.p50),
                          ratio_text(s.pairs.server_cpu));
    }
  }
  text += "\nexponent of the number of tasks      exponent   [95 % interval]\n";
  for (auto const& e : exponents_of(words, first.floor_at)) {
    auto const law = fit(e, steps);
    if (!law) continue;
    text += fmt::format("{:<34}{:>13.3f}   [{:.3f}, {:.3f}]\n", e.text, law->exponent, law->low,
                        law->high);
  }
  if (seen.disturbed.is_too_much()) text += "\n" + seen.disturbed.warning() + "\n";
  return text;
}

json::object json_of(std::vector<growth_step> const& steps, circumstances const& seen) {
  auto const& first = steps.front();
  json::object o{{"workload", "growth"}};
  seen.add_to(o);
  o["transport"] = seen.transport;
  o["samples"] = first.ours.samples.size();
  for (auto const& e : exponents_of(first.work.words, first.floor_at)) {
    auto const law = fit(e, steps);
    if (!law) continue;
    o[e.key + "_exponent"] = to_json(law->exponent);
    o[e.key + "_exponent_low"] = to_json(law->low);
    o[e.key + "_exponent_high"] = to_json(law->high);
  }
  json::array all;
  for (auto const& s : steps) {
    auto const& words = s.work.words;
    auto const told = figures_of(words, s.pairs, s.ours);
    json::object step{{"tasks", s.tasks}, {"sessions", s.work.ours.connections}};
    step["coxswain"] = to_json(told, s.ours);
    if (s.floor_at) {
      step["floor"] = to_json(told, s.floor);
      s.pairs.add_to(step, words);
    }
    all.push_back(std::move(step));
  }
  o["steps"] = std::move(all);
  o["disturbed"] = seen.disturbed_json();
  return o;
}

std::vector<std::uint32_t> numbers(growth_options const& o) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < o.steps; ++i) {
    auto const part = static_cast<double>(i) / (o.steps - 1);
    auto const n = o.from * std::pow(static_cast<double>(o.to) / o.from, part);
    all.push_back(static_cast<std::uint32_t>(std::lround(n)));
  }
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

side& start(stage& all, growth_step& step, side_kind kind) {
  auto name = counted(step.tasks, "task");
  if (kind == side_kind::floor) name += " of the floor";
  side_plan what;
  what.work = &step.work;
  what.kind = kind;
  auto& started = all.add(std::move(what), all.is_unix(), name);
  auto& found = kind == side_kind::floor ? step.floor : step.ours;
  if (auto const bytes = started.bytes_connected()) {
    found.connected_bytes_per_task = *bytes / step.tasks;
  }
  return started;
}

// All numbers in turn, upwards and downwards, so that what drifts meets all alike.
findings run(growth_options const& o, std::string const& transport) {
  if (o.from >= o.to) refuse("--tasks-from {} is not below --tasks-to {}", o.from, o.to);
  std::vector<growth_step> steps;
  stage all{transport};
  if (all.is_unix()) all.make_directory();
  for (auto const tasks : numbers(o)) {
    auto const sessions = (tasks + o.per_session - 1) / o.per_session;
    steps.push_back({tasks, barrier_over({tasks, sessions, 0, sessions})});
  }
  for (auto& step : steps) {
    step.at = &start(all, step, side_kind::coxswain);
    if (o.has_floor) step.floor_at = &start(all, step, side_kind::floor);
  }
  for (auto const& step : steps) {
    all.show("warming up: " + counted(step.tasks, "task"));
    (void)step.at->measure(step.work.steps);
    if (step.floor_at) (void)step.floor_at->measure(step.work.steps);
  }
  all.watch();
  for (std::uint32_t i = 0; i < o.samples; ++i) {
    for (std::size_t n = 0; n < steps.size(); ++n) {
      auto& step = steps[i % 2 == 0 ? n : steps.size() - 1 - n];
      all.show(fmt::format("sample {} of {}: {}", i + 1, o.samples, counted(step.tasks, "task")));
      auto const measure = [&step](bool is_ours) {
        return (is_ours ? step.at : step.floor_at)->measure(step.work.steps);
      };
      if (step.floor_at)
        measure_pair(i, step.ours, step.floor, step.pairs, measure);
      else
        step.ours.samples.push_back(measure(true));
    }
  }
  auto const seen = all.seen();
  return {table(steps, seen), json_of(steps, seen)};
}

void add_growth(CLI::App& to, growth_options& o) {
  add_number(to, "--tasks-from", o.from, 1, 1'000'000, "The least number of tasks");
  add_number(to, "--tasks-to", o.to, 1, 1'000'000, "The greatest");
  add_number(to, "--steps", o.steps, 2, 100, "How many numbers, each greater by the same factor");
  add_number(to, "--tasks-per-session", o.per_session, 1, 1'000'000,
             "So many tasks share a connection; 1: each has its own, as far as the limit of open "
             "files goes");
  to.add_flag("--floor", o.has_floor,
              "Also with a plain epoll server that moves the same bytes over as many connections, "
              "in interleaved samples: how the machine itself grows");
  add_number(to, "--samples", o.samples, 1, 10'000, "Of each number, after one for warming up");
}

}  // namespace

study make_growth() {
  auto const given = std::make_shared<growth_options>();
  return {
      "growth",
      "What a barrier costs over more and more tasks: latency and server CPU, and by which power "
      "of the number of tasks they grow (1 is linear)",
      [=](CLI::App& to) { add_growth(to, *given); },
      [=](std::string const& transport) { return run(*given, transport); }};
}

}  // namespace coxswain::bench
