#pragma once
// The history of the keys as the auditor saw it, and their state at each time. Versions order the
// changes; each has a time. Not here: outcomes of calls.

#include "tests/sim/everything/history.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::sim {

// The key as normalized by the coordinator.
[[nodiscard]] std::string normal(std::string_view key);
// Whether a watch of the directory reports changes of the key, and whether it is listed there.
[[nodiscard]] bool concerns(std::string_view key, std::string_view directory);
[[nodiscard]] bool is_below(std::string_view key, std::string_view directory);

class key_story {
 public:
  struct state {
    std::uint64_t version{};           // zero: from the beginning on
    std::optional<std::string> value;  // none: there is none
    time_point seen;
    time_point from;  // at the earliest
    time_point to{time_point::max()};
  };

  explicit key_story(history const& h);

  // The state of a key after that change of any key.
  [[nodiscard]] state const& at(std::string const& key, std::uint64_t version) const;
  // Its state before its change of that version.
  [[nodiscard]] state const& before(std::string const& key, std::uint64_t version) const {
    return at(key, version - 1);
  }
  // Null if the key was not changed at that version.
  [[nodiscard]] state const* change(std::string const& key, std::uint64_t version) const;
  // All its states, in order.
  [[nodiscard]] std::vector<state> const& states(std::string const& key) const;

  // Whether one of its states during this time satisfies the predicate.
  template <class IsSo>
  [[nodiscard]] bool was_so(std::string const& key, time_point from, time_point to,
                            IsSo is_so) const {
    for (state const& s : states(key)) {
      if (s.from <= to && s.to >= from && is_so(s)) return true;
    }
    return false;
  }

  // When the change of a version had happened, or never.
  [[nodiscard]] time_point time_of(std::uint64_t version) const;
  [[nodiscard]] bool is_present(std::uint64_t version, time_point from, time_point to) const {
    time_point const seen = time_of(version);
    bool const is_known = seen != time_point::max();
    return is_known && history_.earliest(seen) <= to && time_of(version + 1) >= from;
  }
  [[nodiscard]] std::uint64_t last() const { return times_.size() - 1; }
  [[nodiscard]] std::map<std::string, std::vector<state>> const& all() const { return keys_; }

 private:
  history const& history_;
  std::map<std::string, std::vector<state>> keys_;
  std::vector<state> unknown_{{}};
  std::vector<time_point> times_{time_point{}};  // by version
};

}  // namespace coxswain::sim
