#pragma once
// The texts for clients that ask what they wait for, cached for a moment: ten thousand that wait
// for the same ask at about the same time, and examining all tasks for each would take seconds. Not
// here: the texts themselves (coordinator).

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
  // What many wait for, by its number or its name.
  using place = std::tuple<concern_index, std::uint64_t, std::string>;

  // The result of `make`, or its cached result for this place.
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

  static void fields(auto& a, auto& s) { a.members(s.texts_, s.since_); }

 private:
  static constexpr duration kept_for = 100ms;
  static constexpr std::size_t texts_max = 1'000;

  std::map<place, std::string> texts_;
  time_point since_;
};

}  // namespace coxswain::core
