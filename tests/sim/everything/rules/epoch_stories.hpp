#pragma once
// The epochs of an elastic job as the auditor saw them. Not here: what they must be like (epochs,
// admission).

#include "tests/sim/everything/history.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace coxswain::sim {

// "epoch 7 begins: ...": 7.
[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view line, std::string_view before,
                                                     std::string_view after);

// The epoch in the reply to the call; null if there is none.
[[nodiscard]] core::epoch_answer const* epoch_in(call_record const& c);

struct epoch_story {
  std::optional<std::size_t> begins;                  // the event
  std::optional<std::size_t> is_over;                 // likewise, if it had a loss
  std::optional<core::epoch_members_answer> members;  // none unless all of its pages were seen
  std::map<task_id, call_record const*> answered;     // the first of each member
};

// By number.
class epoch_stories : public std::map<std::uint64_t, epoch_story> {
 public:
  explicit epoch_stories(history const& h);

  // When the epoch began, at the latest.
  [[nodiscard]] time_point begun_by(std::uint64_t number) const;
  [[nodiscard]] bool may_have_begun(std::uint64_t number, time_point by) const;

 private:
  history const& h_;
};

}  // namespace coxswain::sim
