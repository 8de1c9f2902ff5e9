#pragma once
// What is said to those who ask what they wait for, kept for a moment: ten thousand who wait for
// the same ask within one, and looking at all tasks for each of them would take seconds. Not here:
// what it is that is said (coordinator).

#include "coxswain/base/time.hpp"
#include "coxswain/core/kernel/open_requests.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace coxswain::core {

class waiting_texts {
 public:
  // Where many wait for the same, by its number or its name.
  using place = std::tuple<concern_index, std::uint64_t, std::string>;

  // What `make` gives, or gave for this place a moment ago.
  template <class Make>
  std::string const& at(time_point now, place where, Make make) {
    if (now >= since_ + kept_for || texts_.size() >= texts_max) {
      texts_.clear();
      since_ = now;
    }
    auto const [found, is_new] = texts_.try_emplace(std::move(where));
    if (is_new) found->second = make();
    return found->second;
  }

 private:
  static constexpr duration kept_for = 100ms;
  static constexpr std::size_t texts_max = 1'000;

  std::map<place, std::string> texts_;
  time_point since_;
};

}  // namespace coxswain::core
