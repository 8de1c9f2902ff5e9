// The workload `kv`: keys are read and written, with one or several outstanding requests per
// connection.

#include "load/fleet.hpp"
#include "load/stream.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace coxswain::bench {
namespace {

struct key_options {
  std::uint32_t puts_of_ten{};  // of ten operations
  std::uint32_t outstanding{};
  std::uint32_t keys{};
  std::uint64_t bytes{};
};

class keys_load final : public fleet_load {
 public:
  keys_load(fleet&& all, key_options given)
      : fleet_load{std::move(all)}, given_{given}, keys_{given_.keys, given_.bytes} {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    all_.connect(progress);
    keys_.store(all_);
  }

  tally measure(std::uint64_t steps) override {
    tally found;
    found.latencies.resize(1);
    // The versions have the size of those in the coordinator's answers.
    auto const version = std::max<std::uint64_t>(puts_, given_.keys);
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
    auto const key = std::uniform_int_distribution<std::uint32_t>{0, given_.keys - 1}(random_);
    auto const chance = std::uniform_int_distribution<std::uint32_t>{0, 9}(random_);
    if (chance >= given_.puts_of_ten) return {keys_.get(key), 1};
    ++puts_;
    return {keys_.put(key), 0};
  }

  key_options given_;
  key_set keys_;
  std::uint64_t puts_{};
  std::mt19937 random_{1};
};

}  // namespace

std::unique_ptr<load> make_keys(load_plan const& plan) {
  key_options const given{plan.get<std::uint32_t>("puts_of_ten"),
                          plan.get<std::uint32_t>("outstanding"), plan.get<std::uint32_t>("keys"),
                          plan.get<std::uint64_t>("bytes")};
  return std::make_unique<keys_load>(fleet_of(plan), given);
}

}  // namespace coxswain::bench
