#pragma once
// What XLA's service demands of barriers and the core does not, for `--xla-strict` only: it counts
// the rounds of each name, fails all who are at a round when somebody comes with another counter,
// or who is no participant, and knows the outcome of a name's last round for ever.

#include "coxswain/base/status.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace coxswain::xla {

class strict_barriers {
 public:
  struct round {
    std::int64_t counter{};
    bool is_open{};
    status outcome{};    // of one that is not open
    bool is_mismatch{};  // it failed since counters differ: no BarrierError then
  };

  enum class verdict : std::uint8_t {
    arrive,    // in the open round, or in a new one, which it opens
    is_over,   // the round has ended: `round::outcome`
    mismatch,  // all who are at the round fail, and so does this caller
  };

  // A call with this counter has come.
  [[nodiscard]] verdict call(std::string const& name, std::int64_t counter);

  // The open round fails, or none is open and the next one has failed already.
  void spoil(std::string const& name, status why, bool is_mismatch);

  // A round has ended.
  void end(std::string const& name, std::int64_t counter, status outcome);

  // Null: there was none of this name.
  [[nodiscard]] round const* find(std::string const& name) const;

  static status counters_differ(std::string_view name, std::int64_t expected, std::int64_t got);

 private:
  std::unordered_map<std::string, round> rounds_;
};

}  // namespace coxswain::xla
