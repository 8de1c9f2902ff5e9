#pragma once
// The state of one connection in dispatch, which changes it.

#include "coxswain/server/dispatch.hpp"
#include "coxswain/server/grpc_line.hpp"
#include "coxswain/wire/frame.hpp"

#include <memory>

namespace coxswain::server {

// The byte-level state of one connection.
struct dispatch::line {
  line(std::shared_ptr<memory_meter> memory, std::size_t queued_bytes_max)
      : decoder{core::hello_frame_bytes_max, unasked_max, memory.get()},
        out{std::move(memory), queued_bytes_max} {}

  // A larger frame that has not arrived completely needs permission.
  static constexpr std::size_t unasked_max = core::hello_frame_bytes_max;

  wire::frame_decoder decoder;
  outbox out;
  std::unique_ptr<grpc_line> grpc;  // null: a native connection
  bool greeted{};                   // the limit of its frames was raised
  bool deaf{};                      // its input violated the protocol
  bool broken{};                    // it cannot be written to
  bool held{};                      // the core knows that reading is paused
  bool blocked{};                   // the core knows that its peer does not read
  bool dirty{};                     // it is in this delivery's list
  bool waits{};                     // it has frames, but no steps left
  bool is_late{};                   // it has used up a quantum since it had no frames left
  bool is_beyond_share{};
  bool acts_for_tasks{};  // as of when it last had to wait for others
  bool has_large{};       // its large frame has permission to arrive
  bool paused{};          // its large frame, or all its requests, wait for memory
  protocols allowed{protocols::both};

  std::int64_t steps_left{quantum};  // below zero: its debt
  std::uint64_t iteration{};         // in which that was true
  std::uint64_t waits_from{};        // the iteration in which it began to wait; zero: it does not
  time_point waits_since;            // the same, by the clock
  time_point heard;                  // when the core last knew that it lives

  [[nodiscard]] bool is_heard() const noexcept { return !deaf && (broken || !out.ends()); }

  [[nodiscard]] taken state() const noexcept {
    return held ? taken::reading_paused : waits ? taken::waits : taken::all;
  }
};

// The connection has more to write, or was paused or resumed.
inline void dispatch::changed(time_point now, connection_id id, line& on) {
  if (!on.dirty) {
    on.dirty = true;
    dirty_.push_back(id);
  }
  if (on.held != on.out.pauses_reading()) tell_paused(now, id, on);
}

}  // namespace coxswain::server
