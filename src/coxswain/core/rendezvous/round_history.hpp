#pragma once
// The last ended rounds of barriers of tasks, and their stragglers. Bounded in number and in bytes;
// adding a round allocates only if its barrier's name is long. Not here: open rounds (barriers).

#include "coxswain/core/model/messages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace coxswain::core {

class round_history {
 public:
  static constexpr std::size_t rounds_max = 256;
  static constexpr std::size_t name_bytes_max = 200;
  static constexpr std::size_t stragglers_max = 20;

  round_history() { last_.reserve(rounds_max); }

  // Numbers the round; a long name is cut.
  void add(std::string_view name, snapshot::finished_round round);

  // The tasks get new numbers, so which ones came last is forgotten.
  void forget_tasks() {
    for (auto& round : last_) round.last_task.reset();
  }

  // How many were added.
  [[nodiscard]] std::uint64_t added() const noexcept { return added_; }

  // Oldest first.
  [[nodiscard]] std::vector<snapshot::finished_round> all() const;

  // The tasks that came last in those rounds, most often first; among equals, those that delayed
  // others longer. At most `stragglers_max`.
  [[nodiscard]] std::vector<snapshot::straggler> stragglers() const;

  static void fields(auto& a, auto& s) {
    a.members(s.last_, s.added_);
    a.check(s.last_.size() == std::min<std::uint64_t>(s.added_, rounds_max),
            "finished rounds are missing");
  }

 private:
  std::vector<snapshot::finished_round> last_;  // round n is at (n - 1) % rounds_max
  std::uint64_t added_{};
};

}  // namespace coxswain::core
