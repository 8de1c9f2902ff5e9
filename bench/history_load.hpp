#pragma once
// The load of the study `history`: a job that can gather a past, and then does what all jobs do.

#include "crowd.hpp"
#include "key_set.hpp"
#include "workload.hpp"

#include <cstdint>
#include <memory>
#include <random>

namespace coxswain::bench {

struct history_options {
  std::uint32_t tasks{100};  // each on a connection of its own
  std::uint32_t used_ids{1'000'000};
  std::uint32_t keys{1'000'000};
  std::uint32_t keys_at_first{1'000};
  std::uint64_t bytes{64};
};

class history_load final : public load {
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

  history_load(address server, std::unique_ptr<peer> speaks, history_options const& given);

  void connect(std::function<void(std::uint64_t)> const& progress) override;
  void turn_to(std::uint64_t next) override { act_ = static_cast<act>(next); }
  tally measure(std::uint64_t steps) override;

  void beat() override { all_.beat(); }
  duration beat_period() const noexcept override { return all_.beat_period(); }
  void finish() override { all_.leave(); }

 private:
  [[nodiscard]] core::barrier_args next_barrier();
  void run_barriers(std::uint64_t rounds, tally& found);
  void run_requests(std::uint64_t requests, tally& found);
  void use(std::uint64_t ids);
  void expect_release();

  history_options given_;
  key_set few_;
  key_set many_;
  key_set const* there_{&few_};
  crowd all_;
  act act_{barriers};
  std::uint64_t used_{};  // ids of barriers
  std::mt19937 random_{1};
};

}  // namespace coxswain::bench
