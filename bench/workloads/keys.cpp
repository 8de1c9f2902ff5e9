// The workloads `kv`: keys are read and written, one request and its reply at a time on each
// connection, or several; and `dir-get`: a directory with all its values is read again and again.

#include "load/crowd.hpp"
#include "load/stream.hpp"
#include "workloads/workloads.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr std::uint64_t sample_bytes_max = std::uint64_t{256} * 1024 * 1024;

struct key_options {
  std::string operation{"get"};
  std::uint32_t connections{1};
  std::uint32_t outstanding{1};
  std::uint32_t keys{1'000};
  std::uint64_t bytes{64};
  bool lists{};  // the whole directory

  // How many of ten operations are puts.
  [[nodiscard]] std::uint32_t puts_of_ten() const {
    if (operation == "get") return 0;
    return operation == "put" ? 10 : 1;
  }
};

struct listing_options : key_options {
  listing_options() {
    keys = 100;
    lists = true;
  }
};

class keys_load final : public crowd_load {
 public:
  keys_load(crowd&& all, key_options given)
      : crowd_load{std::move(all)}, given_{std::move(given)}, keys_{given_.keys, given_.bytes} {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    all_.connect(progress);
    keys_.store(all_);
  }

  tally measure(std::uint64_t steps) override {
    tally found;
    found.latencies.resize(1);
    // The versions are as large as those of the coordinator's answers.
    auto const version = std::max<std::uint64_t>(puts_, given_.keys);
    if (given_.lists)
      all_.speaks().expect({keys_.list_answer()});
    else
      all_.speaks().expect({keys_.put_answer(version), keys_.get_answer(version)});
    stream lines{all_.wires(), given_.outstanding};
    lines.run(
        steps, [this] { return next(); }, found);
    return found;
  }

  void finish() override {
    keys_.remove(all_);
    all_.leave();
  }

 private:
  stream::question next() {
    if (given_.lists) return {core::list_args{keys_.directory()}, 0};
    auto const key = std::uniform_int_distribution<std::uint32_t>{0, given_.keys - 1}(random_);
    auto const chance = std::uniform_int_distribution<std::uint32_t>{0, 9}(random_);
    if (chance >= given_.puts_of_ten()) return {keys_.get(key), 1};
    ++puts_;
    return {keys_.put(key), 0};
  }

  key_options given_;
  key_set keys_;
  std::uint64_t puts_{};
  std::mt19937 random_{1};
};

void add_connections(CLI::App& to, key_options& o) {
  add_number(to, "--connections", o.connections, 1, 1'000'000,
             "Connections, each with its own session");
  add_number(to, "--outstanding", o.outstanding, 1, 4'000,
             "Requests without an answer on each of them");
}

void add_kv(CLI::App& to, key_options& o) {
  to.add_option("--operation", o.operation, "get, put, or mixed: nine gets for one put")
      ->check(CLI::IsMember{{"get", "put", "mixed"}})
      ->capture_default_str();
  add_connections(to, o);
  add_number(to, "--keys", o.keys, 1, key_set::keys_max,
             "Different keys, of which each request takes any");
  add_number(to, "--bytes", o.bytes, 0, std::uint64_t{64} << 20,
             "The size of each value, up to 64 MiB");
}

void add_dir_get(CLI::App& to, listing_options& o) {
  add_number(to, "--keys", o.keys, 1, key_set::keys_max, "Keys of the directory");
  add_number(to, "--bytes", o.bytes, 0, std::uint64_t{64} << 20, "The size of each value");
  add_connections(to, o);
}

plan plan_keys(key_options const& o, std::string name, std::string const& what) {
  plan p;
  p.words.name = std::move(name);
  p.words.title = fmt::format("{} of {}, {} with {} outstanding", what, bytes_text(o.bytes),
                              counted(o.connections, "connection"), grouped(o.outstanding));
  p.words.steps = "operations";
  p.words.operation = {"operation", "operation"};
  p.words.latencies = {{"request to answer", "latency_ns"}};
  p.words.has_rate = true;
  p.ours = p.others = {o.connections, 0};
  p.job.num_tasks = 1;
  p.make_load = [o](side_kind kind, address server, extent size) {
    rival_plan rival;
    rival.lists = o.lists;
    return std::make_unique<keys_load>(crowd_of(kind, std::move(server), size, rival), o);
  };
  return p;
}

plan plan_kv(key_options const& o) {
  constexpr std::uint64_t under_way_max = std::uint64_t{1} << 30;
  auto const under_way = o.bytes * o.outstanding * o.connections;
  auto const stored = o.bytes * o.keys;
  if (std::max(under_way, stored) > under_way_max) {
    refuse(
        "values of {} B make {} under way at once and {} stored, but 1 GiB is the limit of each: "
        "fewer --keys, --connections or --outstanding",
        o.bytes, bytes_text(under_way), bytes_text(stored));
  }
  auto p = plan_keys(o, "kv", "kv " + o.operation);
  p.parameters = {{"connections", o.connections},
                  {"outstanding", o.outstanding},
                  {"puts_of_ten", o.puts_of_ten()},
                  {"keys", o.keys},
                  {"bytes", o.bytes}};
  bool const is_one = o.connections == 1 && o.outstanding == 1;
  p.steps = std::clamp<std::uint64_t>(sample_bytes_max / std::max<std::uint64_t>(o.bytes, 1), 16,
                                      is_one ? 10'000 : 100'000);
  return p;
}

plan plan_dir_get(listing_options const& o) {
  constexpr std::uint64_t key_bytes = 24;
  auto const listing_bytes = o.keys * (o.bytes + key_bytes);
  if (listing_bytes > sample_bytes_max) {
    refuse("a listing would have {}, but {} is the limit: fewer --keys or --bytes",
           bytes_text(listing_bytes), bytes_text(sample_bytes_max));
  }
  auto p = plan_keys(o, "dir-get", fmt::format("directory of {}", counted(o.keys, "key")));
  p.parameters = {{"keys", o.keys},
                  {"bytes", o.bytes},
                  {"connections", o.connections},
                  {"outstanding", o.outstanding}};
  p.steps = std::clamp<std::uint64_t>(sample_bytes_max / listing_bytes, 10, 10'000);
  return p;
}

}  // namespace

workload make_kv() {
  return described<key_options>(
      "kv",
      "Keys are read or written, each answer followed by the next request: latency, and "
      "operations in a second",
      add_kv, plan_kv, {side_kind::redis, side_kind::etcd});
}

workload make_dir_get() {
  return described<listing_options>(
      "dir-get",
      "A directory is read with all its values, each answer followed by the next request",
      add_dir_get, plan_dir_get, {side_kind::redis, side_kind::etcd});
}

}  // namespace coxswain::bench
