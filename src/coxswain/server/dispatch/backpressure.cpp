#include "coxswain/server/dispatch/backpressure.hpp"

#include "coxswain/server/dispatch/grpc_line.hpp"

#include <exception>
#include <new>
#include <string>
#include <utility>

namespace coxswain::server {
namespace {

// A large frame leaves one part in this many of the memory to small messages.
constexpr std::size_t part_for_small = 32;

// A frame that arrives more slowly, after a third of the time of a stalled peer, is cut off if
// others wait for its memory.
constexpr std::size_t slow_bytes_per_s = 1024 * 1024;

// Connections with fewer unread bytes are not cut off.
constexpr std::size_t unread_min = 64 * 1024;

}  // namespace

// The core leaves a quarter of the memory, and no frame takes more than a fifth, so only other
// messages in transit make one wait. Where memory is so small that this is less than the largest
// frame, one that is too large for it arrives alone, and the core refuses it.
bool backpressure::has_room_for_frame(std::size_t bytes) const {
  auto const& memory = core_.memory();
  std::size_t const wanted = bytes + memory.limit() / part_for_small;
  bool const would_wait_for_ever = wanted > memory.limit() - memory.owned_max();
  return memory.fits_in_transit(wanted) ||
         (would_wait_for_ever && !large_frames_.is_any_arriving());
}

time_point backpressure::latest_arrival(time_point now, std::size_t bytes) const {
  return deadline_after(now, stalled_peer_timeout_ / 3 + bytes / slow_bytes_per_s * 1s);
}

bool backpressure::admit(time_point now, connection_id from, line& on) {
  std::size_t const bytes = on.asks_for();
  if (has_room_for_frame(bytes) && on.allow()) {
    on.has_large = true;
    large_frames_.arrive({from}, latest_arrival(now, bytes));
    return true;
  }
  if (on.waits_for_memory) return false;
  large_frames_.wait({from}, deadline_after(now, stalled_peer_timeout_));
  lines_.pause(now, from, on, true);
  return false;
}

void backpressure::let_large_arrive(time_point now, connection_id from, line& on) {
  auto& session = on.grpc->session;
  on.has_large = true;
  while (auto const call = session.asking()) {
    std::size_t const bytes = session.asks_for();
    large_frame const which{from, call->value};
    bool may = has_room_for_frame(bytes);
    try {
      if (may) session.allow();
    } catch (std::bad_alloc const&) {
      may = false;
    }
    if (!may) return large_frames_.wait(which, deadline_after(now, stalled_peer_timeout_));
    large_frames_.arrive(which, latest_arrival(now, bytes));
    lines_.changed(now, from, on);  // its window opens
  }
}

void backpressure::check_large(connection_id from, line& on) {
  if (on.grpc) {
    on.has_large = large_frames_.forget_if(from, [&](large_frame frame) {
      return on.grpc->session.arriving_bytes(http2::stream_id{frame.stream}) == 0;
    });
    return;
  }
  if (on.is_large()) return;
  on.has_large = false;
  if (on.asks_for() == 0) large_frames_.forget(from);
}

// Readers leave a quarter of the memory to others, but may always have a sixteenth in transit. When
// it is used up, connections without a task are closed, those with the most unread output first.
void backpressure::check_memory(time_point now) {
  auto const& memory = core_.memory();
  is_scarce_ = memory.transit() > memory.limit() / 16;
  if (!is_scarce_) return;
  is_scarce_ = !memory.fits_in_transit(memory.limit() / 4);
  while (!memory.fits_in_transit(0)) {
    auto const most = most_unread_without_task();
    if (!most) return;
    cut_off(now, *most, "it does not read its replies, and memory is used up");
  }
}

std::optional<connection_id> backpressure::most_unread_without_task() const {
  std::optional<connection_id> most;
  std::size_t bytes = unread_min;
  lines_.each([&](connection_id id, line const& line) {
    if (line.out.queued_bytes() <= bytes || !line.takes_input() || line.grpc || line.trunk) return;
    if (core_.logic().share_of(id) == core::share_kind::task) return;
    most = id;
    bytes = line.out.queued_bytes();
  });
  return most;
}

void backpressure::yield(time_point now, connection_id from, line& on) {
  if (on.waits_for_memory || on.broken || core_.logic().share_of(from) != core::share_kind::reader)
    return;
  if (!core_.memory().fits_in_transit(0)) {
    return cut_off(now, from, "it only reads, and memory is used up");
  }
  yielding_.push_back(from);
  lines_.pause(now, from, on, true);
}

void backpressure::resume_paused(time_point now) {
  check_memory(now);
  if (!large_frames_.empty()) {
    for (auto const [from, stream] : large_frames_.waiting()) {
      auto* const on = lines_.find(from);
      if (on->grpc) {
        let_large_arrive(now, from, *on);
      } else if (admit(now, from, *on)) {
        lines_.pause(now, from, *on, false);
      }
    }
  }
  if (is_scarce_) return;
  for (auto const id : std::exchange(yielding_, {})) {
    auto* const on = lines_.find(id);
    if (on != nullptr && on->waits_for_memory) lines_.pause(now, id, *on, false);
  }
}

std::vector<connection_id> backpressure::due_signs(time_point now) {
  auto of = large_frames_.connections();
  of.insert(of.end(), yielding_.begin(), yielding_.end());
  bool const is_due = signs_at_ && *signs_at_ <= now;
  if (of.empty() || suspect_after_ == duration::zero()) {
    signs_at_.reset();
  } else if (!signs_at_ || is_due) {
    signs_at_ = now + suspect_after_ / 4;
  }
  return is_due ? of : std::vector<connection_id>{};
}

std::string backpressure::memory_in_words() const {
  auto const& memory = core_.memory();
  return "memory_bytes_max is " + std::to_string(memory.limit()) + ", of which stored data take " +
         std::to_string(memory.used()) + " bytes and messages in transit " +
         std::to_string(memory.transit());
}

// Its client reconnects and repeats its open requests.
void backpressure::cut_off(time_point now, connection_id id, std::string why) {
  large_frames_.forget(id);
  auto* const on = lines_.find(id);
  if (on == nullptr || !on->takes_input()) return;
  why = "connection cut off: " + why + "; " + memory_in_words();
  events_.report({core::severity::warning, why});
  on->deaf = true;
  on->decoder = wire::frame_decoder{0};
  if (on->out.empty() && !on->tcp_store) {
    status outcome{errc::resource_exhausted, std::move(why)};
    on->out.push({}, core::make_answer({{}, core::goodbye{std::move(outcome), true}}), encoder_);
  } else {
    on->out.abandon();  // perhaps in the middle of a frame
  }
  lines_.pause(now, id, *on, false);
}

// A JAX process would end if its connection was cut off, so only its call fails.
void backpressure::refuse_late_call(time_point now, large_frame which, line& on) {
  large_frames_.forget(which);
  if (!on.takes_input()) return;
  auto& session = on.grpc->session;
  http2::stream_id const stream{which.stream};
  std::string const what =
      "the request of " + std::to_string(session.arriving_bytes(stream)) + " bytes";
  std::string const why =
      (session.asking() == stream ? "no memory for " + what
                                  : what + " arrives too slowly while others wait for memory") +
      "; " + memory_in_words();
  events_.report({core::severity::warning,
                  "call of " + core_.logic().peer_of(which.from) + " refused: " + why});
  try {
    session.refuse(stream, {errc::resource_exhausted, why + "; repeat the call later"});
    let_large_arrive(now, which.from, on);
  } catch (std::exception const&) {
    on.out.abandon();
  }
  lines_.changed(now, which.from, on);
}

void backpressure::cut_off_late(time_point now) {
  auto const guard = core_.completing();
  for (auto const which : large_frames_.due_at(now)) {
    auto* const on = lines_.find(which.from);
    if (on->grpc) {
      refuse_late_call(now, which, *on);
      continue;
    }
    std::size_t const bytes = on->asks_for();
    cut_off(now, which.from,
            bytes != 0 ? "no memory for its frame of " + std::to_string(bytes) + " bytes"
                       : "its frame arrives too slowly while others wait for memory");
  }
}

}  // namespace coxswain::server
