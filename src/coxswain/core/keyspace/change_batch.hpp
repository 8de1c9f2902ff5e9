#pragma once
// The changes in one watch reply: limited, but at least one.

#include "coxswain/core/config.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace coxswain::core {

class change_batch {
 public:
  explicit change_batch(config const& options)
      : changes_max_{options.changes_per_answer_max},
        bytes_max_{options.change_bytes_per_answer_max} {}

  // False if it does not fit; then stop: later ones must not be added.
  bool add(key_change const& what) {
    std::size_t const size = what.key.size() + (what.value ? what.value->size() : 0) + 32;
    bool const fits = changes_.size() < changes_max_ && bytes_ + size <= bytes_max_;
    is_cut_ = is_cut_ || (!fits && !changes_.empty());
    if (is_cut_) return false;
    bytes_ += size;
    changes_.push_back(what);
    return true;
  }

  // The answer; `present` is the version of the last change that could have been added.
  [[nodiscard]] key_changes_answer until(std::uint64_t present) && {
    std::uint64_t const through = is_cut_ ? changes_.back().version : present;
    return {std::move(changes_), through};
  }

 private:
  std::size_t changes_max_;
  std::size_t bytes_max_;
  std::vector<key_change> changes_;
  std::size_t bytes_{};
  bool is_cut_{};
};

}  // namespace coxswain::core
