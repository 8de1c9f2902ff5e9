#pragma once
// Barriers for callers outside the job: the n-th arrival releases all (§6.5). The round
// numbers of names at which no call waits are remembered for a while. Not here: replies and
// deadlines (coordinator).

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/kernel/ticket.hpp"
#include "coxswain/core/snapshot/is_loading.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace coxswain::core {

class count_barriers {
 public:
  struct waiting {
    std::uint32_t count{};
    round_number number{};
    time_point opened;
    std::map<std::uint64_t, ticket> arrived;  // oldest first
  };

  // Of at most `idle_max` names without waiting calls the last round number is remembered.
  explicit count_barriers(std::size_t idle_max) : idle_max_{idle_max} {}

  // Identifies an arrival under its name.
  using arrival_number = std::uint64_t;

  // INVALID_ARGUMENT: others wait with a different count, or the count is zero.
  result<arrival_number> arrive(time_point now, std::string const& name, std::uint32_t count,
                                ticket who);

  struct released {
    round_number number{};
    std::vector<ticket> tickets;
  };

  // Removes and returns the arrivals of a name if it is complete; else none.
  released take_complete(std::string const& name);

  void cancel(std::string const& name, arrival_number number);

  [[nodiscard]] std::map<std::string, waiting> const& all() const noexcept { return by_name_; }

  static void fields(auto& a, auto& s) {
    a.members(s.by_name_, s.arrival_, s.sequence_, s.idle_);
    if constexpr (is_loading<decltype(a)>) {
      for (auto at = s.idle_.begin(); at != s.idle_.end(); ++at)
        s.by_age_.emplace(at->second.since, at);
    }
  }

 private:
  struct idle {
    round_number last{};
    std::uint64_t since{};

    static void fields(auto& a, auto& s) { a.members(s.last, s.since); }
  };

  void remember(std::string const& name, round_number last);

  std::size_t idle_max_;
  std::map<std::string, waiting> by_name_;
  std::map<std::string, idle> idle_;
  std::map<std::uint64_t, std::map<std::string, idle>::iterator> by_age_;  // all of these
  arrival_number arrival_{};
  std::uint64_t sequence_{};  // rises whenever a name becomes idle
};

}  // namespace coxswain::core
