#pragma once
// Puts a recording into a fresh core, input by input, in the recorded time: what happened then
// happens again. Compares what the core says with the recorded digests.

#include "coxswain/core/coordinator.hpp"
#include "coxswain/server/placeholders.hpp"
#include "coxswain/server/running_digest.hpp"
#include "coxswain/wire/recording.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
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

  // What the core has told its log in the last step.
  [[nodiscard]] std::vector<core::event> const& events() const noexcept { return events_; }

  // What this core first sent or reported otherwise than the recorded one (see running_digest), in
  // the last step or before; empty if nothing.
  [[nodiscard]] std::string const& difference() const noexcept { return difference_; }

  // How many messages and events were the same as those recorded. Of messages there are digests in
  // recordings that were passed on only (recorder). And for how many there is no digest yet,
  // because the coordinator was killed.
  struct counts {
    std::uint64_t messages{};
    std::uint64_t events{};
    std::uint64_t not_compared{};
  };
  [[nodiscard]] counts compared() const noexcept;

  // The whole job after the last step.
  [[nodiscard]] core::snapshot look() const { return core_.look(latest_); }

 private:
  void give(wire::record const& input);
  void give_message(wire::record const& input);
  void give_credentials(std::string const& text);
  void put_in(core::owner_input what);
  void give_preemption(wire::record const& input);
  void give_cancellation(wire::record const& input);
  void take_outputs();
  [[nodiscard]] std::string compare_messages(std::string_view digests);
  [[nodiscard]] std::string compare_event(wire::record const& then);

  // What this core has said and no record was compared with.
  struct sent_message {
    connection_id to{};
    request_id in_reply_to{};
    errc code{};
    std::uint16_t digest{};

    [[nodiscard]] std::string text() const;
  };
  struct told_event {
    std::string text;
    std::uint16_t digest{};
  };

  wire::recording_reader reader_;
  std::optional<wire::record> next_;  // was read and is later than what was asked for
  time_point now_;
  time_point latest_;  // what is due is judged by the time when a loop iteration began, before what
                       // it read
  core::coordinator core_;
  restoration values_;
  running_digest sent_;
  running_digest told_;
  std::deque<sent_message> messages_left_;
  std::deque<told_event> events_left_;
  std::vector<core::event> events_;
  counts compared_;
  std::string difference_;
};

}  // namespace coxswain::server
