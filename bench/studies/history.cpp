// The study `history`: whether a coordinator gets slower or larger by what it has done before.

#include "load/crowd.hpp"
#include "load/stream.hpp"
#include "studies/experiment.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <random>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr std::uint32_t parts_of_ids = 10;
constexpr std::uint64_t requests_per_sample = 20'000;

struct history_options {
  std::uint32_t tasks{100};  // each on a connection of its own
  std::uint32_t used_ids{1'000'000};
  std::uint32_t keys{1'000'000};
  std::uint32_t keys_at_first{1'000};
  std::uint64_t bytes{64};
  std::uint32_t pairs{15};
};

// A job that can gather a past, and then does what all jobs do.
class history_load final : public crowd_load {
 public:
  // What `measure` does, so many times.
  enum act : std::uint64_t {
    barriers,    // of all tasks, each under an id of its own
    first_gets,  // of the keys that there were at first
    gets,        // of any of the keys that there are
    puts,        // over any of them
    use_ids,     // barriers of one task each, under ids of their own
    store_keys,  // all that are not there yet, whatever the number
  };

  history_load(crowd&& all, history_options const& given)
      : crowd_load{std::move(all)},
        given_{given},
        few_{given.keys_at_first, given.bytes},
        many_{given.keys, given.bytes} {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    crowd_load::connect(progress);
    few_.store(all_);
  }

  void turn_to(std::uint64_t next) override { act_ = static_cast<act>(next); }

  tally measure(std::uint64_t steps) override {
    tally found;
    found.latencies.resize(1);
    switch (act_) {
      case barriers: run_barriers(steps, found); break;
      case first_gets:
      case gets:
      case puts: run_requests(steps, found); break;
      case use_ids: use(steps); break;
      case store_keys: many_.store(all_); there_ = &many_;
    }
    return found;
  }

 private:
  core::barrier_args next_barrier() {
    core::barrier_args arrival;
    arrival.name = fmt::format("step-{:09}", ++used_);
    return arrival;
  }

  // The first round of each id.
  void expect_release() {
    all_.speaks().expect({core::answer{{}, core::barrier_answer{round_number{1}, {}}}});
  }

  void run_barriers(std::uint64_t rounds, tally& found) {
    expect_release();
    for (std::uint64_t round = 0; round < rounds; ++round) {
      auto const arrival = next_barrier();
      all_.ask_all([&arrival](task_id) { return arrival; });
      stopwatch const watch;
      auto const t = all_.run("the release");
      watch.stop(found);
      found.latencies[0].add((t.answered - t.last_sent).count());
    }
    found.operations = rounds * all_.tasks();
  }

  void run_requests(std::uint64_t requests, tally& found) {
    auto const version = std::uint64_t{given_.keys} + used_;
    all_.speaks().expect({many_.put_answer(version), many_.get_answer(version)});
    auto const& keys = act_ == first_gets ? few_ : *there_;
    std::uniform_int_distribution<std::uint32_t> any{0, keys.size() - 1};
    stream lines{all_.wires(), 1};
    auto const next = [&]() -> stream::question {
      auto const key = any(random_);
      if (act_ == puts) return {keys.put(key), 0};
      return {keys.get(key), 1};
    };
    lines.run(requests, next, found);
  }

  void use(std::uint64_t ids) {
    constexpr std::uint64_t at_once = 8;  // for each task
    expect_release();
    for (std::uint64_t used = 0; used < ids;) {
      auto const end = std::min(ids, used + at_once * all_.tasks());
      for (auto const first = used; used < end; ++used) {
        auto const task =
            task_id{static_cast<std::uint32_t>((used - first) * all_.tasks() / (end - first))};
        auto arrival = next_barrier();
        arrival.participants = {task};
        all_.ask(all_.session_of(task.value), task, std::move(arrival));
      }
      all_.run("the release of its own barrier");
    }
  }

  history_options given_;
  key_set few_;
  key_set many_;
  key_set const* there_{&few_};
  act act_{barriers};
  std::uint64_t used_{};  // ids of barriers
  std::mt19937 random_{1};
};

// One thing that a new coordinator and one with a history do in turn.
struct history_act {
  history_load::act what{};
  std::uint64_t steps{};  // in a sample
  vocabulary words{};
  side_result with_history{};
  side_result without{};
  comparison pairs{};
};

std::vector<history_act> acts(history_options const& o) {
  auto const act = [](history_load::act what, std::uint64_t steps, std::string name,
                      std::string title, vocabulary::term operation, vocabulary::term latency) {
    history_act made{what, steps};
    made.words.name = std::move(name);
    made.words.title = std::move(title);
    made.words.operation = std::move(operation);
    made.words.latencies = {std::move(latency)};
    made.words.has_rate = true;
    return made;
  };
  vocabulary::term const answer{"request to answer", "latency_ns"};
  vocabulary::term const operation{"operation", "operation"};
  auto const rounds = std::clamp<std::uint64_t>(requests_per_sample / o.tasks, 5, 1'000);
  return {
      act(history_load::barriers, rounds, "barrier", "barrier over " + counted(o.tasks, "task"),
          {"task and barrier", "task"}, {"last arrival to last release", "release_ns"}),
      act(history_load::first_gets, requests_per_sample, "get_of_first",
          fmt::format("get of the first {} keys", grouped(o.keys_at_first)), operation, answer),
      act(history_load::gets, requests_per_sample, "get", "get of any key", operation, answer),
      act(history_load::puts, requests_per_sample, "put", "put over any key", operation, answer)};
}

// What it found.
struct history_report {
  history_options given{};
  std::vector<history_act> all{};
  // The server's memory: after equal parts of the used ids, beginning with none, and then with all
  // keys.
  std::vector<double> bytes_by_ids{};
  double bytes_with_keys{};
  circumstances seen{};

  // How many ids had been used by then.
  [[nodiscard]] std::uint64_t ids_at(std::size_t place) const {
    return std::uint64_t{given.used_ids} * place / parts_of_ids;
  }
  // The first half also fills what is bounded: it does not count.
  [[nodiscard]] double bytes_per_id() const {
    auto const half = bytes_by_ids.size() / 2;
    auto const ids = static_cast<double>(given.used_ids - ids_at(half));
    return (bytes_by_ids.back() - bytes_by_ids[half]) / ids;
  }
  [[nodiscard]] double bytes_per_key() const {
    return (bytes_with_keys - bytes_by_ids.back()) / given.keys;
  }
};

std::string rows_of(history_act const& a) {
  auto text = a.words.title + ", " + a.words.latencies[0].text + "\n";
  for (auto const& f : figures_of(a.words, a.pairs, a.with_history)) {
    auto const label = f.key.starts_with("server_cpu_ns")
                           ? "  server CPU per " + a.words.operation.text
                       : f.key == "load_share"         ? "  load busy"
                       : f.key == "rate_per_s"         ? "  rate"
                       : f.key.find('.') != f.key.npos ? f.text
                                                       : std::string{};
    if (label.empty()) continue;
    text += table_line(label, or_unknown(f.of(a.without), f.say),
                       or_unknown(f.of(a.with_history), f.say),
                       f.pairs && !f.pairs->empty() ? ratio_text(*f.pairs) : std::string{});
  }
  return text;
}

std::string table(history_report const& r) {
  auto text = fmt::format(
      "history: {} used barrier ids and {} keys of {}, {}, {} of samples, interleaved; {}; {}\n\n",
      grouped(r.given.used_ids), grouped(r.given.keys), bytes_text(r.given.bytes),
      counted(r.given.tasks, "task"), counted(r.given.pairs, "pair"), r.seen.over(),
      r.seen.cpus.text());
  text += table_line({}, "new", "with history", "ratio  [95 % interval]");
  for (auto const& a : r.all) text += rows_of(a);
  auto const memory = [&text](std::string const& what, std::string const& bytes) {
    text += table_line(what, "", bytes);
  };
  text += "memory of the server\n";
  for (std::size_t i = 0; i < r.bytes_by_ids.size(); ++i) {
    memory(fmt::format("  {} used ids", grouped(r.ids_at(i))), bytes_text(r.bytes_by_ids[i]));
  }
  memory(fmt::format("  and {} keys", grouped(r.given.keys)), bytes_text(r.bytes_with_keys));
  memory("  of one more id, second half", fmt::format("{:.2f} B", r.bytes_per_id()));
  memory("  of one more key", bytes_text(r.bytes_per_key()));
  if (r.seen.disturbed.is_too_much()) text += "\n" + r.seen.disturbed.warning() + "\n";
  return text;
}

json::object json_of(history_report const& r) {
  json::object o{{"workload", "history"}};
  r.seen.add_to(o);
  o["transport"] = r.seen.transport;
  o["tasks"] = r.given.tasks;
  o["used_ids"] = r.given.used_ids;
  o["keys"] = r.given.keys;
  o["bytes"] = r.given.bytes;
  o["pairs"] = r.given.pairs;
  for (auto const& a : r.all) {
    json::object act;
    a.pairs.add_to(act, a.words);
    auto const told = figures_of(a.words, a.pairs, a.with_history);
    act["new"] = to_json(told, a.without);
    act["with_history"] = to_json(told, a.with_history);
    o[a.words.name] = std::move(act);
  }
  o["server_bytes_by_used_ids"] = to_json(r.bytes_by_ids);
  o["server_bytes_with_keys"] = to_json(r.bytes_with_keys);
  o["server_bytes_per_used_id"] = to_json(r.bytes_per_id());
  o["server_bytes_per_key"] = to_json(r.bytes_per_key());
  o["disturbed"] = r.seen.disturbed_json();
  return o;
}

// The memory is looked at after each part.
void grow_old(stage& both, side& old, history_report& r) {
  old.turn_to(history_load::use_ids);
  for (std::uint32_t part = 0; part < parts_of_ids; ++part) {
    both.show(fmt::format("{} of {} used ids", grouped(r.ids_at(part)), grouped(r.given.used_ids)));
    auto const used = old.measure(r.ids_at(part + 1) - r.ids_at(part));
    if (part == 0) r.bytes_by_ids.push_back(static_cast<double>(used.server_before->now_bytes));
    r.bytes_by_ids.push_back(static_cast<double>(used.server_after->now_bytes));
  }
  both.show(fmt::format("storing {} keys", grouped(r.given.keys)));
  old.turn_to(history_load::store_keys);
  r.bytes_with_keys = static_cast<double>(old.measure(1).server_after->now_bytes);
}

// New, old, old, new, ... so that what drifts meets both alike; after one of each for warming up.
void measure(stage& both, side& young, side& old, history_report& r) {
  auto const sample_of = [](side& of, history_act const& act) {
    of.turn_to(act.what);
    return of.measure(act.steps);
  };
  for (auto const& act : r.all) {
    (void)sample_of(young, act);
    (void)sample_of(old, act);
  }
  both.watch();
  for (std::uint32_t pair = 0; pair < r.given.pairs; ++pair) {
    for (auto& act : r.all) {
      both.show(fmt::format("pair {} of {}: {}", pair + 1, r.given.pairs, act.words.name));
      measure_pair(pair, act.with_history, act.without, act.pairs,
                   [&](bool is_old) { return sample_of(is_old ? old : young, act); });
    }
  }
}

findings run(history_options const& o, std::string const& transport) {
  plan work;
  work.ours = {o.tasks, o.tasks};
  work.job.num_tasks = o.tasks;
  work.make_load = [o](side_kind kind, address server, extent size) {
    return std::make_unique<history_load>(crowd_of(kind, std::move(server), size), o);
  };
  stage both{transport};
  if (both.is_unix()) both.make_directory();
  side_plan what;
  what.work = &work;
  auto& young = both.add(what, both.is_unix(), "new");
  auto& old = both.add(what, both.is_unix(), "with history");
  history_report r;
  r.given = o;
  r.all = acts(o);
  grow_old(both, old, r);
  measure(both, young, old, r);
  r.seen = both.seen();
  return {table(r), json_of(r)};
}

void add_history(CLI::App& to, history_options& o) {
  add_number(to, "--tasks", o.tasks, 1, 10'000, "Simulated tasks, each on a connection of its own");
  add_number(to, "--used-ids", o.used_ids, parts_of_ids, 900'000'000,
             "Barrier ids that have been used before");
  add_number(to, "--keys", o.keys, o.keys_at_first, key_set::keys_max,
             "Keys that are there; a new coordinator has 1,000");
  add_number(to, "--bytes", o.bytes, 0, 1'000'000, "The size of each value");
  add_number(to, "--pairs", o.pairs, 1, 100'000, "Pairs of samples to compare");
}

}  // namespace

study make_history() {
  auto const given = std::make_shared<history_options>();
  return {"history",
          "Whether a coordinator gets slower or larger by what it has done before: barriers, gets "
          "and puts after many used barrier ids and with many keys, beside a new coordinator",
          [=](CLI::App& to) { add_history(to, *given); },
          [=](std::string const& transport) { return run(*given, transport); }};
}

}  // namespace coxswain::bench
