#pragma once
// The rules of XLA's service for barriers that the core does not have, for `--xla-strict` only: it
// counts the rounds of each name, and fails a whole round if a task calls with another counter or
// is no participant. It remembers the last outcome of at least `names_max` names.

#include "coxswain/base/status.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace coxswain::xla {

class strict_barriers {
 public:
  static constexpr std::size_t names_max = 50'000;

  struct round {
    std::int64_t counter{};
    bool is_open{};
    status outcome{};    // of a closed round
    bool is_mismatch{};  // it failed because counters differ: its error has no BarrierError
  };

  enum class verdict : std::uint8_t {
    arrive,    // in the open round, or in a new one, which it opens
    is_over,   // the round has ended: `round::outcome`
    mismatch,  // the round fails for all its callers and this one
  };

  // A call with this counter has come.
  [[nodiscard]] verdict call(std::string const& name, std::int64_t counter);

  // The open round fails; if none is open, the next one has failed already.
  void fail(std::string const& name, status why, bool is_mismatch);

  // A round has ended.
  void end(std::string const& name, std::int64_t counter, status outcome);

  // Null: no round of this name is known.
  [[nodiscard]] round* find(std::string const& name);

  static status counters_differ(std::string_view name, std::int64_t expected, std::int64_t got);

 private:
  using rounds = std::unordered_map<std::string, round>;

  round& add(std::string const& name);

  rounds recent_;  // at most names_max, and the open ones
  rounds older_;   // used less recently than all of those
};

}  // namespace coxswain::xla
