// The study `history`: whether a coordinator gets slower or larger by what it has done before.

#include "history_report.hpp"
#include "text.hpp"
#include "workloads.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr std::uint32_t parts_of_ids = 10;
constexpr std::uint64_t requests_per_sample = 20'000;

// What the sides of the study need; it is not a workload of the program.
class history_work final : public workload {
 public:
  explicit history_work(history_options const& given) : given_{given} {}

  CLI::App* add_to(CLI::App& /*program*/) override { return nullptr; }
  vocabulary words() const override { return {}; }
  std::vector<parameter> parameters() const override { return {}; }
  std::uint64_t steps_by_default() const override { return 1; }
  std::size_t connections(side_kind) const override { return given_.tasks; }
  void configure(core::config& coordinator) const override { coordinator.num_tasks = given_.tasks; }
  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    return std::make_unique<history_load>(std::move(server), make_peer(kind, given_.tasks), given_);
  }

 private:
  history_options given_;
};

struct act_plan {
  history_load::act what{};
  std::uint64_t steps{};  // in a sample
  history_act found;
};

std::vector<act_plan> acts(history_options const& given) {
  auto const plan = [](history_load::act what, std::uint64_t steps, std::string name,
                       std::string title, vocabulary::term operation, vocabulary::term latency) {
    act_plan p{what, steps, {}};
    p.found.words.name = std::move(name);
    p.found.words.title = std::move(title);
    p.found.words.operation = std::move(operation);
    p.found.words.latencies = {std::move(latency)};
    p.found.words.has_rate = true;
    return p;
  };
  vocabulary::term const answer{"request to answer", "latency_ns"};
  auto const rounds = std::clamp<std::uint64_t>(requests_per_sample / given.tasks, 5, 1'000);
  return {plan(history_load::barriers, rounds, "barrier",
               "barrier over " + counted(given.tasks, "task"), {"task and barrier", "task"},
               {"last arrival to last release", "release_ns"}),
          plan(history_load::first_gets, requests_per_sample, "get_of_first",
               fmt::format("get of the first {} keys", grouped(given.keys_at_first)),
               {"operation", "operation"}, answer),
          plan(history_load::gets, requests_per_sample, "get", "get of any key",
               {"operation", "operation"}, answer),
          plan(history_load::puts, requests_per_sample, "put", "put over any key",
               {"operation", "operation"}, answer)};
}

class history final : public study {
 public:
  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "history",
        "Whether a coordinator gets slower or larger by what it has done before: barriers, gets "
        "and puts after many used barrier ids and with many keys, beside a new coordinator");
    cmd.add_option("--tasks", given_.tasks, "Simulated tasks, each on a connection of its own")
        ->check(CLI::Range(1U, 10'000U))
        ->capture_default_str();
    cmd.add_option("--used-ids", given_.used_ids, "Barrier ids that have been used before")
        ->check(CLI::Range(parts_of_ids, 900'000'000U))
        ->capture_default_str();
    cmd.add_option("--keys", given_.keys, "Keys that are there; a new coordinator has 1,000")
        ->check(CLI::Range(given_.keys_at_first, key_set::keys_max))
        ->capture_default_str();
    cmd.add_option("--bytes", given_.bytes, "The size of each value")
        ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000}))
        ->capture_default_str();
    cmd.add_option("--pairs", pairs_, "Pairs of samples to compare")
        ->check(CLI::Range(1U, 100'000U))
        ->capture_default_str();
    return &cmd;
  }

  findings run(bool unix_sockets) const override;

 private:
  void grow_old(stage& both, side& old, history_report& r) const;
  void measure(stage& both, side& young, side& old, std::vector<act_plan>& all) const;

  history_options given_;
  std::uint32_t pairs_{15};
};

// The memory is looked at after each part.
void history::grow_old(stage& both, side& old, history_report& r) const {
  old.turn_to(history_load::use_ids);
  for (std::uint32_t part = 0; part < parts_of_ids; ++part) {
    both.show(fmt::format("{} of {} used ids",
                          grouped(std::uint64_t{given_.used_ids} * part / parts_of_ids),
                          grouped(given_.used_ids)));
    auto const begin = std::uint64_t{given_.used_ids} * part / parts_of_ids;
    auto const end = std::uint64_t{given_.used_ids} * (part + 1) / parts_of_ids;
    auto const used = old.measure(end - begin);
    if (part == 0) r.bytes_by_ids.push_back(static_cast<double>(used.server_before->now_bytes));
    r.bytes_by_ids.push_back(static_cast<double>(used.server_after->now_bytes));
  }
  both.show(fmt::format("storing {} keys", grouped(given_.keys)));
  old.turn_to(history_load::store_keys);
  r.bytes_with_keys = static_cast<double>(old.measure(1).server_after->now_bytes);
}

// New, old, old, new, ... so that what drifts meets both alike; after one of each for warming up.
void history::measure(stage& both, side& young, side& old, std::vector<act_plan>& all) const {
  auto const sample_of = [](side& of, act_plan const& plan) {
    of.turn_to(plan.what);
    return of.measure(plan.steps);
  };
  for (auto const& plan : all) {
    (void)sample_of(young, plan);
    (void)sample_of(old, plan);
  }
  both.watch();
  for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
    for (auto& plan : all) {
      both.show(fmt::format("pair {} of {}: {}", pair + 1, pairs_, plan.found.words.name));
      bool const young_first = pair % 2 == 0;
      auto first = sample_of(young_first ? young : old, plan);
      auto second = sample_of(young_first ? old : young, plan);
      auto& of_young = young_first ? first : second;
      auto& of_old = young_first ? second : first;
      plan.found.pairs.add(of_old, of_young);
      plan.found.without.samples.push_back(std::move(of_young));
      plan.found.with_history.samples.push_back(std::move(of_old));
    }
  }
}

findings history::run(bool unix_sockets) const {
  history_work const work{given_};
  stage both{unix_sockets};
  auto& young = both.add(work, "new");
  auto& old = both.add(work, "with history");
  history_report r;
  r.given = given_;
  grow_old(both, old, r);
  auto all = acts(given_);
  measure(both, young, old, all);
  for (auto& plan : all) r.acts.push_back(std::move(plan.found));
  r.seen = both.seen();
  return r.told();
}

}  // namespace

std::unique_ptr<study> make_history() { return std::make_unique<history>(); }

}  // namespace coxswain::bench
