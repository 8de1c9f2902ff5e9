#pragma once
// Messages in transit while memory is scarce: which connections are paused, resumed and closed, and
// which large frames may arrive. Only pausing and resuming are inputs of the core. Not here:
// replies that wait for room in their queue (outbox), counting memory (memory_meter).

#include "coxswain/base/error.hpp"
#include "coxswain/server/dispatch/event_reporter.hpp"
#include "coxswain/server/dispatch/large_frames.hpp"
#include "coxswain/server/dispatch/line_table.hpp"
#include "coxswain/server/dispatch/recorded_core.hpp"
#include "coxswain/server/encoder.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::server {

class backpressure {
 public:
  // All must outlive it. A frame waits for memory for at most `stalled_peer_timeout`. Clients hear
  // nothing for at most `suspect_after`; zero: for any time.
  backpressure(recorded_core& core, line_table& lines, event_reporter& events, encoder& by,
               duration stalled_peer_timeout, duration suspect_after)
      : core_{core},
        lines_{lines},
        events_{events},
        encoder_{by},
        stalled_peer_timeout_{stalled_peer_timeout},
        suspect_after_{suspect_after} {}

  // Memory is scarce: readers wait (`yield`).
  [[nodiscard]] bool is_scarce() const noexcept { return is_scarce_; }

  // Messages in transit have changed.
  void check_memory(time_point now);

  // Pauses a connection that only reads, until memory is no longer scarce.
  void yield(time_point now, connection_id from, line& on);

  // Whether the large frame of the connection may arrive now; else reading is paused until then.
  [[nodiscard]] bool admit(time_point now, connection_id from, line& on);

  // Input was read: whether its large frame, or its large requests, have arrived.
  void check_large(connection_id from, line& on);

  // Large requests of a connection that speaks gRPC arrive when there is memory for them, each
  // alone: other calls of its tasks go on.
  void let_large_arrive(time_point now, connection_id from, line& on);

  // Those whose clients are due a sign of life now: they ask for one behind a large frame, or
  // behind what is not read.
  [[nodiscard]] std::vector<connection_id> due_signs(time_point now);

  [[nodiscard]] bool has_paused() const noexcept {
    return is_scarce_ || !yielding_.empty() || !large_frames_.empty();
  }
  // Resumes those for which there is memory.
  void resume_paused(time_point now);

  // When the next frame has waited or arrived for too long, and rejects those that have; or when
  // signs of life are due.
  [[nodiscard]] std::optional<time_point> next_deadline() const {
    auto const next = large_frames_.next_deadline();
    return signs_at_ && (!next || *signs_at_ < *next) ? signs_at_ : next;
  }
  void advance(time_point now) {
    if (!large_frames_.empty()) cut_off_late(now);
  }

  // The connection is gone.
  void forget(connection_id from) { large_frames_.forget(from); }

 private:
  [[nodiscard]] bool has_room_for_frame(std::size_t bytes) const;
  [[nodiscard]] time_point latest_arrival(time_point now, std::size_t bytes) const;
  [[nodiscard]] std::optional<connection_id> most_unread_without_task() const;
  [[nodiscard]] std::string memory_in_words() const;
  void cut_off(time_point now, connection_id id, std::string why);
  void refuse_late_call(time_point now, large_frame which, line& on);
  void cut_off_late(time_point now);

  recorded_core& core_;
  line_table& lines_;
  event_reporter& events_;
  encoder& encoder_;
  duration stalled_peer_timeout_;
  duration suspect_after_;
  std::optional<time_point> signs_at_;
  large_frames large_frames_;
  std::vector<connection_id> yielding_;  // readers that wait until there is memory
  bool is_scarce_{};
};

}  // namespace coxswain::server
