#pragma once
// Replays a recording or a journal into a core, input by input, in the recorded time. Compares the
// core's output with the digests of a recording.

#include "coxswain/core/coordinator.hpp"
#include "coxswain/server/journal/journal_files.hpp"
#include "coxswain/server/recording/placeholders.hpp"
#include "coxswain/server/recording/running_digest.hpp"
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
  // it is not a recording, or its settings are invalid.
  explicit replay(std::string_view recording);

  // Of a journal, from its last snapshot on. `records`: all that it has (records_of), likewise.
  // Throws coxswain::error: the snapshot cannot be loaded.
  replay(journal_files const& journal, std::string_view records);

  [[nodiscard]] wire::recording_head const& head() const noexcept { return head_; }

  // How long after the coordinator's start it begins.
  [[nodiscard]] duration begins() const noexcept { return begins_; }

  // False if its beginning was lost: then only the recorded events can be read, and nothing is
  // replayed.
  [[nodiscard]] bool is_whole() const noexcept { return head().lost == 0; }

  // Passes the next record to the core and returns it, valid until the next step; none at the end,
  // or if it is later than `until`. Throws coxswain::error: INVALID_ARGUMENT, the record is
  // damaged, or of a coordinator that behaved differently.
  std::optional<wire::record> step(duration until = duration::max());

  // After the last step: whether the recording ends within a record, because its coordinator was
  // killed.
  [[nodiscard]] bool is_cut_off() const noexcept { return !next_ && reader_.is_cut_off(); }

  // The core's events in the last step.
  [[nodiscard]] std::vector<core::event> const& events() const noexcept { return events_; }

  // The messages that the core sent in the last step.
  [[nodiscard]] std::vector<core::outgoing> const& sent() const noexcept { return sent_; }

  // The first difference between this core's output and the recorded one (see running_digest), in
  // the last step or before; empty if none.
  [[nodiscard]] std::string const& difference() const noexcept { return difference_; }

  // How many messages and events were the same as those recorded (only complete recordings have
  // messages in their digests, see recorder), and for how many there is no record, because the
  // coordinator was killed.
  struct counts {
    std::uint64_t messages{};
    std::uint64_t events{};
    std::uint64_t not_compared{};
  };
  [[nodiscard]] counts compared() const noexcept;

  // Replaces the core by one loaded from its snapshot. Throws coxswain::error: that failed.
  void reload();

  // The digest of the core's state after the last step.
  [[nodiscard]] std::uint64_t digest() const { return core_.digest(); }

  // The whole job after the last step.
  [[nodiscard]] core::snapshot look() const { return core_.look(latest_); }

  // The core after the last step. No input so far was later than `reached`.
  [[nodiscard]] core::coordinator const& core() const noexcept { return core_; }
  [[nodiscard]] duration reached() const noexcept { return latest_ - beginning; }

  // The moment on the core's clock that is so long after the coordinator's start.
  [[nodiscard]] static time_point moment_at(duration since_start) noexcept {
    return beginning + since_start;
  }

  // The state between two steps.
  class bookmark {
   public:
    [[nodiscard]] duration reached() const noexcept { return latest - beginning; }
    [[nodiscard]] std::size_t bytes() const noexcept { return snapshot.size(); }

   private:
    friend class replay;
    core::config options;
    std::string snapshot;
    wire::recording_reader reader;
    std::optional<wire::record> next;
    time_point now;
    time_point latest;
    restoration values;

    bookmark(replay const& of);
  };
  [[nodiscard]] bookmark mark() const { return bookmark{*this}; }
  // Goes back or forward to it. From then on nothing is compared.
  void go_to(bookmark const& to);

 private:
  // Any will do: only differences matter.
  static constexpr time_point beginning{1h};

  // Where a replay begins.
  struct origin {
    wire::recording_head head;
    core::coordinator core;
    duration begins{};
    bool has_values{};
  };

  replay(wire::recording_reader reader, origin from);
  static origin beginning_of(wire::recording_head const& head);
  static origin snapshot_of(journal_files const& journal);

  void give(wire::record const& input);
  void give_message(wire::record const& input);
  void take_outputs();
  [[nodiscard]] std::string compare_output(wire::record const& then);
  [[nodiscard]] std::string compare_event(wire::record const& then);

  wire::recording_reader reader_;
  wire::recording_head head_;
  bool has_values_;  // as a journal has, instead of placeholders
  duration begins_;
  std::optional<wire::record> next_;  // was read, but is later than `until`
  time_point now_;
  time_point
      latest_;  // deadlines are checked with the time when a loop iteration began, before its input
  core::coordinator core_;
  restoration values_;
  running_digest output_;
  // Not yet compared with a record.
  std::deque<core::outgoing> messages_left_;
  std::deque<core::event> events_left_;
  std::vector<core::event> events_;
  std::vector<core::outgoing> sent_;
  bool is_compared_{true};
  counts compared_;
  std::string difference_;
};

// All records of a journal since its last snapshot. Throws coxswain::error: FAILED_PRECONDITION,
// they are of another behaviour number; and as read_journal does.
[[nodiscard]] std::string records_of(journal_files const& journal);

}  // namespace coxswain::server
