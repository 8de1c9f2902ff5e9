#pragma once
// Puts a recording into a fresh core, input by input, in the recorded time: what happened then
// happens again.

#include "coxswain/core/coordinator.hpp"
#include "coxswain/server/stand_ins.hpp"
#include "coxswain/wire/recording.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace coxswain::server {

class replay {
 public:
  // `recording` must stay valid as long as this object. Throws coxswain::error: INVALID_ARGUMENT,
  // it is none, or its settings are none.
  explicit replay(std::string_view recording);

  [[nodiscard]] wire::recording_head const& head() const noexcept { return reader_.head(); }

  // False if its beginning was lost: then only what the core told its log in those days can be
  // read, and nothing happens again.
  [[nodiscard]] bool is_whole() const noexcept { return head().lost == 0; }

  // The next record, whose input the core was given, valid until the next step; none at the end,
  // and none if it is later than `until`. Throws coxswain::error: INVALID_ARGUMENT, the record is
  // damaged, or of a coordinator that worked in another way.
  std::optional<wire::record> step(duration until = duration::max());

  // After the last step: whether the recording ends within a record, as one of a coordinator that
  // was killed.
  [[nodiscard]] bool is_cut_off() const noexcept { return !next_ && reader_.is_cut_off(); }

  // What the core has told its log since it was last asked.
  [[nodiscard]] std::vector<core::event> take_events();

  // The whole job after the last step.
  [[nodiscard]] core::snapshot look() const { return core_.look(latest_); }

 private:
  void give(wire::record const& input);
  void give_message(wire::record const& input);
  void give_credentials(std::string const& text);
  void give_preemption(wire::record const& input);
  void give_cancellation(wire::record const& input);

  wire::recording_reader reader_;
  std::optional<wire::record> next_;  // was read and is later than what was asked for
  time_point now_;
  time_point latest_;  // what is due is judged by the time when a turn began, before what it read
  core::coordinator core_;
  restoration values_;
};

}  // namespace coxswain::server
