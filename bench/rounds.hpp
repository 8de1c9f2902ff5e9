#pragma once
// What the workloads of barriers have in common: rounds in which all tasks arrive and all are
// released.

#include "arrivals.hpp"
#include "crowd.hpp"
#include "population.hpp"
#include "workload.hpp"

#include "coxswain/core/messages.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace coxswain::bench {

// What all tasks say when they arrive, and what they get.
struct round_shape {
  core::barrier_args arrival;
  core::barrier_answer release;  // but for the number of the round
};

class rounds_load final : public load {
 public:
  rounds_load(crowd&& all, round_shape shape, arrivals how);

  void connect(std::function<void(std::uint64_t)> const& progress) override;
  tally measure(std::uint64_t steps) override;
  void beat() override { all_.beat(); }
  duration beat_period() const noexcept override { return all_.beat_period(); }
  void finish() override { all_.leave(); }

 private:
  void round(tally& found);

  crowd all_;
  round_shape shape_;
  arrivals how_;
  std::uint64_t round_{};
};

// A workload of such rounds; what a task brings is up to the class derived from it.
class rounds : public workload {
 public:
  rounds() = default;
  explicit rounds(population who) : who_{who} {}

  void check() const override;
  [[nodiscard]] vocabulary words() const override;
  [[nodiscard]] std::vector<parameter> parameters() const override;
  [[nodiscard]] std::size_t connections(side_kind kind) const override;
  [[nodiscard]] std::uint32_t tasks(side_kind kind) const override;
  void configure(core::config& coordinator) const override;
  [[nodiscard]] std::size_t floor_answers_together() const override;
  [[nodiscard]] std::unique_ptr<load> make_load(side_kind kind, address server) const override;

 protected:
  void add_options(CLI::App& command);
  [[nodiscard]] population const& who() const noexcept { return who_; }
  // With so many tasks.
  [[nodiscard]] virtual round_shape shape(std::uint32_t tasks) const = 0;

 private:
  [[nodiscard]] rival_plan rival(std::uint32_t tasks, core::barrier_args const& arrival) const;

  population who_;
  std::string arrivals_{"together"};

 protected:
  redis_barrier redis_barrier_{redis_barrier::script};
};

}  // namespace coxswain::bench
