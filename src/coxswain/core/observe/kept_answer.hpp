#pragma once
// An expensive answer, shared by all requests for it within a short time. However many there are,
// making it takes a bounded share of the coordinator's time. Not here: its content (coordinator).

#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstdint>

namespace coxswain::core {

class kept_answer {
 public:
  // An answer that took more steps than this is kept, for this long per step: some thirty times the
  // time of making it.
  static constexpr std::uint64_t steps_min = 256;
  static constexpr duration kept_per_step = 10us;

  // How much cheaper encoding an answer is than making it: the cost for requests that share it.
  static constexpr std::uint64_t encoding_part = 8;

  // The answer that was kept, or what `make` returns, which adds the steps that it takes to
  // `steps`.
  template <class Make>
  answer_ptr at(time_point now, std::uint64_t& steps, Make make) {
    if (answer_ && now < until_) {
      steps += cost_ / encoding_part;
      return answer_;
    }
    auto const before = steps;
    answer_ = nullptr;
    answer_ptr made = make();
    cost_ = steps - before;
    if (cost_ <= steps_min) return made;
    until_ = now + kept_per_step * static_cast<duration::rep>(cost_);
    answer_ = made;
    return made;
  }

  static void fields(auto& a, auto& s) { a.members(s.answer_, s.until_, s.cost_); }

 private:
  answer_ptr answer_;
  time_point until_;
  std::uint64_t cost_{};
};

}  // namespace coxswain::core
