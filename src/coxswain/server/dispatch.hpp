#pragma once
// Bytes in, bytes out: the only caller of the core, whose inputs it records. Finds frames in
// received bytes, passes them to the core, and encodes the core's output. Does no I/O and reads no
// clock, so that the simulation runs it as the server does:
//
//   d.begin();                              a loop iteration
//   id = d.open(now, peer, secret);         a connection was accepted
//   d.received(now, id, bytes);             ... for every connection that has something; what has
//                                           not taken all goes on with d.go_on(now, id)
//   d.advance(now);
//   while (d.deliver(dirty)) { ... }        then write d.out(id) for each id in `dirty`, and report
//   d.wrote(now, id, count);                the result: wrote or write_blocked
//   d.lost(now, id, how);                   once, whoever closed it
//
// Without memory, `open`, `received` and `go_on` throw std::bad_alloc, and the caller ends that
// connection with `lost`; operations of others in progress are completed with reserved memory.
//
// Work is counted in steps: a message is one, each 4 KiB of it and each key or task that it makes
// the core visit another one. In an iteration each connection may use `quantum` steps, and goes
// into debt with a message that costs more. Further messages wait, in order. In the next iteration
// each connection has a second quantum; messages that wait even then are beyond its share, and
// those connections have `quanta_beyond_share` quanta together, round-robin. All connections that
// act for no task have `iteration_steps` together; then they wait for the next iteration, in order,
// and no deadline expires that is later than the receipt of a message that waits within its share.
//
// Times must not go backwards, except that of `advance`: after reading for a while, call it with
// the time at which the reading began, so that nothing expires for which input may still be unread.
// Not thread-safe. Not here: sockets and timers (server).

#include "coxswain/base/memory_reserve.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/core/kernel/slot_map.hpp"
#include "coxswain/server/encoder.hpp"
#include "coxswain/server/large_frames.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/server/outbox.hpp"
#include "coxswain/server/recording/recorder.hpp"
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

// The protocols of a connection: our own, gRPC as JAX processes speak it, or whichever it begins
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

  // The fate of received bytes: all were taken, and more may follow; or some are kept. Then no
  // more may be passed before `go_on` has returned `all`.
  enum class taken : std::uint8_t {
    all,
    waits,           // go_on in the next iteration
    reading_paused,  // go_on when `out` no longer pauses reading
  };

  // An iteration begins: waiting connections get another quantum. Throws std::bad_alloc: some get
  // it only in the next one.
  void begin();

  // Bytes were received. Complete frames go to the core; anything less is a sign of life. A
  // protocol violation ends the session, and the connection gets a goodbye. Frames are taken one by
  // one, and none while replies to the connection wait for room, or when its quantum is used up.
  taken received(time_point now, connection_id from, std::string_view bytes);

  // Takes kept bytes, as far as allowed.
  taken go_on(time_point now, connection_id from);

  // The connection can no longer be written to. Its pending output is discarded; earlier input of
  // its peer is still processed.
  void broke(connection_id to);

  // The connection is gone, whichever side closed it. Exactly once for each `open`.
  void lost(time_point now, connection_id from, core::loss how) noexcept;

  // Some of `out(to)` was written; the outbox continues after it.
  void wrote(time_point now, connection_id to, std::size_t count);

  // `out(to)` cannot be written for now. May be called again while that lasts.
  void write_blocked(time_point now, connection_id to);

  // The peer reads, although nothing more of `out(to)` can be written yet.
  void still_reads(time_point now, connection_id to);

  // Input from the connection is imminent: prefetch the memory it needs, then what that points to.
  void prefetch(connection_id from) const noexcept;
  void prefetch_session(connection_id from) const noexcept;
  void prefetch_requests(connection_id from) const noexcept;

  // The core's functions; times before `next_deadline` are not passed on. Each of them, and each of
  // those above, can produce output to deliver and change `next_deadline`.
  status put_in(time_point now, core::owner_input what);
  void advance(time_point now);
  [[nodiscard]] std::optional<time_point> next_deadline() const;

  // Passes events to the log; then puts all output of the core into the outboxes, and their
  // connections, each once, into `dirty`, which is cleared first. True if `dirty` is not empty:
  // call it again after writing, since that can change the core.
  bool deliver(std::vector<connection_id>& dirty);

  // Whether the peer has sent a Hello, or resumed a session.
  [[nodiscard]] bool is_greeted(connection_id from) const;

  // The address of a peer that was refused for its token; null for others.
  [[nodiscard]] std::string const* wrong_token(connection_id from) const {
    return core_.wrong_token(from);
  }

  // The output of the connection; the same object until it is lost.
  [[nodiscard]] outbox& out(connection_id to);
  [[nodiscard]] outbox const& out(connection_id to) const;

  // An event that does not come from the core: passed to the log by the next deliver.
  void report(core::event what);

  // The inputs of the core, as far as they are kept.
  [[nodiscard]] std::string recording() const { return recorder_.recording(); }

  // Queries of the core, which do not change it.
  [[nodiscard]] core::snapshot look(time_point now) const { return core_.look(now); }
  [[nodiscard]] bool done() const { return core_.done(); }
  [[nodiscard]] bool drained() const { return core_.drained(); }
  [[nodiscard]] std::optional<job_error> const& error() const { return core_.error(); }
  [[nodiscard]] std::size_t connections() const noexcept { return lines_.size(); }
  [[nodiscard]] std::uint64_t rounds_ended() const noexcept {
    return core_.counts().barrier_wait.count();
  }
  [[nodiscard]] core::coordinator const& logic() const noexcept { return core_; }

  // The door for unmodified JAX processes.
  [[nodiscard]] xla::door const& door() const noexcept { return door_; }

  // Complete messages received and sent.
  [[nodiscard]] std::uint64_t frames_received() const noexcept { return frames_received_; }
  [[nodiscard]] std::uint64_t frames_sent() const noexcept { return frames_sent_; }

  // How long connections waited whose messages did not fit into their quantum.
  [[nodiscard]] wait_counts const& waits() const noexcept { return waits_; }
  [[nodiscard]] std::uint64_t worker_wait_max() const noexcept { return worker_wait_max_; }
  // The most steps in one iteration of connections that act for no task.
  [[nodiscard]] std::int64_t steps_max() const noexcept { return steps_max_; }

  // The pending output in all outboxes: encoded bytes, and unencoded messages.
  struct backlog {
    std::size_t bytes{};
    std::size_t messages{};
  };
  [[nodiscard]] backlog queued() const;

  // Asserts the invariants, here and in the core.
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
  [[nodiscard]] time_point latest_arrival(time_point now, std::size_t bytes) const;
  void look_at_large(connection_id from, line& on);
  void let_large_arrive(time_point now, connection_id from, line& on);
  void look_at_large_calls(connection_id from, line& on);
  void look_at_memory(time_point now);
  [[nodiscard]] std::optional<connection_id> most_unread_without_task() const;
  void yield_memory(time_point now, connection_id from, line& on);
  void resume_paused(time_point now);
  [[nodiscard]] std::string memory_in_words() const;
  void cut_off(time_point now, connection_id id, std::string why);
  void refuse_late_call(time_point now, large_frame which, line& on);
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
  std::uint64_t steps_{};                   // of the core, already charged to a connection
  std::vector<connection_id> late_;         // began to wait in this iteration, within their share
  std::deque<connection_id> beyond_share_;  // wait, round-robin
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
