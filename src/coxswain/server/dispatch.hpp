#pragma once
// Bytes in, bytes out: the only caller of the core, whose inputs it has recorded. Finds the frames
// in what connections received, tells the core, and encodes what the core wants to be sent. Does no
// I/O and reads no clock, so that the simulation runs it as the server does:
//
//   d.begin();                              a loop iteration
//   id = d.open(now, peer, secret);         a connection was accepted
//   d.received(now, id, bytes);             ... for every connection that has something; what has
//                                           not taken all goes on with d.go_on(now, id)
//   d.advance(now);
//   while (d.deliver(dirty)) { ... }        then write d.out(id) for each id in `dirty`, and report
//   d.wrote(now, id, count);                what became of it: wrote or write_blocked
//   d.lost(now, id, how);                   once, whoever closed it
//
// Without memory, `open`, `received` and `go_on` throw std::bad_alloc, and the caller ends that
// connection with `lost`; what the others have begun is completed with memory that is kept for
// that.
//
// Work is counted in steps: a message is one, each 4 KiB of it and each key or task that it makes
// the core visit another one. In an iteration each connection may cost `quantum` steps, and goes
// into debt with a message that costs more. Messages beyond that wait, in their order. In the next
// iteration each connection has a second quantum; what waits even then is beyond its share, and
// those connections have `quanta_beyond_share` quanta together, in turn. All
// connections that act for no task have `iteration_steps` together; then they wait for the next
// iteration, in the order in which they came, and no deadline passes that is later than the receipt
// of what waits so within its share.
//
// Times must not go backwards, but for that of `advance`: who reads for a while calls it with the
// time at which it began, so that nothing is due that may still wait to be read. Not thread-safe.
// Not here: sockets and timers (server).

#include "coxswain/base/memory_reserve.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/core/kernel/slot_map.hpp"
#include "coxswain/server/encoder.hpp"
#include "coxswain/server/large_frames.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/server/outbox.hpp"
#include "coxswain/server/recorder.hpp"
#include "coxswain/server/wait_counts.hpp"
#include "coxswain/xla/core_port.hpp"
#include "coxswain/xla/door.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

// The token of a worker; empty if there is none.
[[nodiscard]] std::string worker_token(std::vector<core::credential> const& among);

// What a connection may speak: our own protocol, gRPC as JAX processes do, or whichever it begins
// with.
enum class protocols : std::uint8_t { native, jax, both };

// A peer that was accepted: its address for people, and what it may speak.
struct newcomer {
  std::string peer;
  protocols speaks{protocols::both};
};

struct grpc_events;

class dispatch : private xla::core_port {
 public:
  dispatch(options const& o, incarnation self, time_point now);
  ~dispatch();
  dispatch(dispatch const&) = delete;
  dispatch& operator=(dispatch const&) = delete;

  // A connection was accepted. `peer` is its address for people, `secret` is random.
  [[nodiscard]] connection_id open(time_point now, std::string peer, core::session_secret secret,
                                   protocols allowed = protocols::both);

  static constexpr std::int64_t quantum = 256;
  static constexpr std::size_t quanta_beyond_share = 4;
  static constexpr std::int64_t iteration_steps = 6 * quantum;

  // What became of the bytes that came in: all were taken, and more may come; or some are kept.
  // Then nothing more may come before `go_on` has said `all`.
  enum class taken : std::uint8_t {
    all,
    waits,           // go_on in the next iteration
    reading_paused,  // go_on when `out` holds the connection back no longer
  };

  // An iteration begins: who waits may have another quantum. Throws std::bad_alloc: some may have
  // it in the next one only.
  void begin();

  // Bytes came in. Whole frames go to the core; anything less is a sign of life. What is no
  // protocol ends the session, and the connection gets a goodbye. Frames are taken one by one, and
  // none while replies to the connection wait for room, or when its quantum is used up.
  taken received(time_point now, connection_id from, std::string_view bytes);

  // Takes what is left of the bytes that came in, as far as it may.
  taken go_on(time_point now, connection_id from);

  // Nothing can be written to the connection any more. What waits for it is thrown away, and what
  // its peer said before is heard all the same.
  void broke(connection_id to);

  // The connection is gone, whoever closed it. Exactly once for each `open`.
  void lost(time_point now, connection_id from, core::loss how) noexcept;

  // Some of `out(to)` was written. The outbox goes on behind it.
  void wrote(time_point now, connection_id to, std::size_t count);

  // Nothing more of `out(to)` can be written for now. May be called again while that lasts.
  void write_blocked(time_point now, connection_id to);

  // The peer reads, although nothing more of `out(to)` can be written yet.
  void still_reads(time_point now, connection_id to);

  // Something will come from the connection soon: ask for the memory that this takes; for what is
  // found only once that is there.
  void prefetch(connection_id from) const noexcept;
  void prefetch_session(connection_id from) const noexcept;
  void prefetch_requests(connection_id from) const noexcept;

  // The core's verbs; it is not told of a time before `next_deadline`. After each of them, and
  // after each of those above, there may be something to deliver and `next_deadline` may be
  // another.
  status put_in(time_point now, core::owner_input what);
  void advance(time_point now);
  [[nodiscard]] std::optional<time_point> next_deadline() const;

  // Hands events to the log; then puts everything that the core wants to be sent into the outboxes,
  // and their connections, each once, into `dirty`, which is cleared first. True if `dirty` is not
  // empty: call it again after writing, since that may have told the core something.
  bool deliver(std::vector<connection_id>& dirty);

  // Whether the peer has said Hello, or has resumed a session.
  [[nodiscard]] bool is_greeted(connection_id from) const;

  // The address of a peer that was refused for its token; null for others.
  [[nodiscard]] std::string const* wrong_token(connection_id from) const {
    return core_.wrong_token(from);
  }

  // What is to be written to the connection; the same object until it is lost.
  [[nodiscard]] outbox& out(connection_id to);
  [[nodiscard]] outbox const& out(connection_id to) const;

  // An event that did not come from the core: handed to the log by the next deliver.
  void report(core::event what);

  // The inputs of the core, as far as they are kept.
  [[nodiscard]] std::string recording() const { return recorder_.recording(); }

  // What the core knows. Nothing of this changes it.
  [[nodiscard]] core::snapshot look(time_point now) const { return core_.look(now); }
  [[nodiscard]] bool done() const { return core_.done(); }
  [[nodiscard]] bool drained() const { return core_.drained(); }
  [[nodiscard]] std::optional<job_error> const& error() const { return core_.error(); }
  [[nodiscard]] std::size_t connections() const noexcept { return lines_.size(); }
  [[nodiscard]] std::uint64_t rounds_ended() const noexcept {
    return core_.counts().barrier_wait.count();
  }
  [[nodiscard]] core::coordinator const& brain() const noexcept { return core_; }

  // The door for unmodified JAX processes.
  [[nodiscard]] xla::door const& door() const noexcept { return door_; }

  // Whole messages that came in, and that were to be sent.
  [[nodiscard]] std::uint64_t frames_received() const noexcept { return frames_received_; }
  [[nodiscard]] std::uint64_t frames_sent() const noexcept { return frames_sent_; }

  // How long connections waited whose messages did not fit into their quantum.
  [[nodiscard]] wait_counts const& waits() const noexcept { return waits_; }
  [[nodiscard]] std::uint64_t worker_wait_max() const noexcept { return worker_wait_max_; }
  // The most steps of connections that act for no task in one iteration.
  [[nodiscard]] std::int64_t steps_max() const noexcept { return steps_max_; }

  // What waits in all outboxes: encoded bytes, and messages that are not encoded.
  struct backlog {
    std::size_t bytes{};
    std::size_t messages{};
  };
  [[nodiscard]] backlog queued() const;

  // Asserts what must always hold, here and in the core.
  void check_invariants() const;

 private:
  struct line;

  [[nodiscard]] memory_reserve::use beginning();
  [[nodiscard]] memory_reserve::use completing();
  [[nodiscard]] line* find(connection_id id) const;
  void heard(time_point now, connection_id from, line& on);
  void refill(line& on) const;
  [[nodiscard]] bool may_go_on(connection_id from, line& on) const;
  [[nodiscard]] bool take_frames(time_point now, connection_id from, line& on);
  void charge(line& on, std::size_t bytes);
  void wait(time_point now, connection_id from, line& on);
  void waits_no_more(connection_id from, line& on);
  [[nodiscard]] bool has_much_to_send() const;
  void collect(time_point now);
  void tell_paused(time_point now, connection_id id, line& on);
  void changed(time_point now, connection_id id, line& on);
  void pause(time_point now, connection_id id, line& on, bool pauses);
  [[nodiscard]] bool has_room_for_frame(std::size_t bytes) const;
  [[nodiscard]] bool admit(time_point now, connection_id from, line& on);
  void look_at_large(connection_id from, line& on);
  void look_at_memory(time_point now);
  [[nodiscard]] std::optional<connection_id> most_unread_without_task() const;
  void yield_memory(time_point now, connection_id from, line& on);
  void resume_paused(time_point now);
  void cut_off(time_point now, connection_id id, std::string why);
  void cut_off_late(time_point now);
  bool malformed(time_point now, connection_id from, line& on, status const& why);
  void write_progressed(time_point now, connection_id to);
  void tell_log();

  // Connections that speak gRPC.
  connection_id connected(time_point now, std::string peer,
                          core::session_secret const& secret) override;
  void received(time_point now, connection_id from, core::client_message&& what) override;
  void heard(time_point now, connection_id from) override;
  void session_lost(time_point now, connection_id from, core::loss how) override;
  bool refuse_native(time_point now, connection_id from, line& on);
  void begin_grpc(time_point now, connection_id from, line& on);
  taken hear_grpc(time_point now, connection_id from, line& on, std::string_view input);
  void take_events(time_point now, connection_id from, line& on);
  void let_large_arrive(time_point now, connection_id from, line& on);
  void tell_door(time_point now, line const* on, core::outgoing const& what);
  void make_effective(time_point now, xla::effect& what);
  void apply_effects(time_point now);
  void pump(time_point now, connection_id to, line& on);
  void look_at_window(time_point now, connection_id to, line& on);

  recorder recorder_;
  core::coordinator core_;
  xla::door door_;
  std::vector<xla::effect> effects_;
  std::unique_ptr<grpc_events> events_;  // that were found and not taken
  encoder encoder_;
  core::slot_table<connection_id, std::unique_ptr<line>> lines_;
  std::function<void(core::event const&)> log_;
  memory_reserve for_requests_;
  memory_reserve for_ends_;
  std::size_t queued_bytes_max_;
  duration stalled_peer_timeout_;
  std::uint64_t iteration_{1};
  std::uint64_t steps_{};                   // of the core, that were charged to somebody
  std::vector<connection_id> late_;         // began to wait in this iteration, within their share
  std::deque<connection_id> beyond_share_;  // wait, in turn
  std::vector<core::outgoing> outgoing_;
  std::vector<connection_id> dirty_;  // since the last delivery
  large_frames large_frames_;
  std::vector<connection_id> yielding_;  // readers that wait until there is memory
  bool is_scarce_{};                     // the memory: readers wait
  std::vector<core::event> reported_;
  time_point now_;  // of the last input
  std::int64_t iteration_steps_left_{iteration_steps};
  std::optional<time_point> waits_since_;  // the oldest message that other connections hold up
  std::int64_t steps_max_{};
  wait_counts waits_;
  std::uint64_t worker_wait_max_{};
  std::uint64_t frames_received_{};
  std::uint64_t frames_sent_{};
};

}  // namespace coxswain::server
