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
// In an iteration each connection may use a quantum of steps (step_scheduler); further messages
// wait, in order. While memory for messages in transit is scarce, connections are paused or closed
// (backpressure).
//
// Times must not go backwards, except that of `advance`: after reading for a while, call it with
// the time at which the reading began, so that nothing expires for which input may still be unread.
// Not thread-safe. Not here: sockets and timers (server).

#include "coxswain/base/fifo.hpp"
#include "coxswain/server/accepted_peer.hpp"
#include "coxswain/server/admission/host_pace.hpp"
#include "coxswain/server/dispatch/backpressure.hpp"
#include "coxswain/server/dispatch/event_reporter.hpp"
#include "coxswain/server/dispatch/grpc_connections.hpp"
#include "coxswain/server/dispatch/line_table.hpp"
#include "coxswain/server/dispatch/recorded_core.hpp"
#include "coxswain/server/dispatch/step_scheduler.hpp"
#include "coxswain/server/dispatch/tcp_store_connections.hpp"
#include "coxswain/server/encoder.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/server/outbox.hpp"
#include "coxswain/server/statistics.hpp"
#include "coxswain/wire/routed.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::server {

class dispatch {
 public:
  dispatch(options const& o, incarnation self, time_point now)
      : dispatch{o, core_origin{.self = self, .now = now}} {}
  // With a journal, or from one.
  dispatch(options const& o, core_origin from);
  dispatch(dispatch const&) = delete;
  dispatch& operator=(dispatch const&) = delete;

  // A connection was accepted. `peer` is its address for people, `secret` is random.
  [[nodiscard]] connection_id open(time_point now, std::string peer, core::session_secret secret,
                                   protocols allowed = protocols::both);

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

  // The connection is gone, whichever side closed it. Exactly once for each `open`. The routes of a
  // trunk are gone with it.
  void lost(time_point now, connection_id from, core::loss how) noexcept;

  // The peer closed the connection after it had received all of `out(to)`; `lost` follows.
  void closed_in_order(time_point now, connection_id from);

  // Some of `out(to)` was written; the outbox continues after it.
  void wrote(time_point now, connection_id to, std::size_t count);

  // `out(to)` cannot be written for now. May be called again while that lasts.
  void write_blocked(time_point now, connection_id to);

  // The peer reads, although nothing more of `out(to)` can be written yet.
  void still_reads(time_point now, connection_id to);

  // The number of routes, which are connections without a socket (§18.3).
  [[nodiscard]] std::size_t routes() const noexcept { return routes_; }

  // The core's functions; times before `next_deadline` are not passed on. Each of them, and each of
  // those above, can produce output to deliver and change `next_deadline`.
  status put_in(time_point now, core::owner_input what);
  void advance(time_point now);
  [[nodiscard]] std::optional<time_point> next_deadline() const;

  // Passes events to the log; then puts output of the core into the outboxes, and their
  // connections, each once, into `dirty`, which is cleared first. True if `dirty` is not empty:
  // there may be more to deliver afterwards, because the output goes to many connections, or
  // because writing has changed the core.
  bool deliver(std::vector<connection_id>& dirty);
  [[nodiscard]] bool has_to_deliver() const;

  // With a journal: whether all inputs are in it, and puts them there. Output may leave only then;
  // an error is final.
  [[nodiscard]] bool is_committed() const noexcept { return core_.is_committed(); }
  status commit() { return core_.commit(); }

  // With a journal whose batches become durable only later, the outboxes hold output back. Whether
  // they do; and whether all inputs are durable, so that there is nothing to wait for.
  [[nodiscard]] bool awaits_durability() const noexcept { return !held_.empty(); }
  [[nodiscard]] bool is_durable() const noexcept { return is_durable(last_batch()); }

  // The batch that has all inputs so far, once it is committed; and whether a batch is durable.
  [[nodiscard]] std::uint64_t last_batch() const noexcept {
    return core_.holds_output() ? core_.last_batch() : 0;
  }
  [[nodiscard]] bool is_durable(std::uint64_t batch) const noexcept {
    return !core_.holds_output() || core_.is_durable(batch);
  }

  // Lets output leave whose inputs are durable now. Its connections, perhaps several times, go into
  // `dirty`, which is cleared first; true if there are any.
  bool release(std::vector<connection_id>& dirty);

  // Whether the peer has sent a Hello, or resumed a session.
  [[nodiscard]] bool is_greeted(connection_id from) const;

  // Its peer expects frames of this protocol, or may: it is not known to speak another one.
  [[nodiscard]] bool speaks_frames(connection_id from) const;

  // The address of a peer that was refused for its token; null for others.
  [[nodiscard]] std::string const* wrong_token(connection_id from) const {
    return core_.logic().wrong_token(from);
  }

  // The output of the connection; the same object until it is lost.
  [[nodiscard]] outbox& out(connection_id to);
  [[nodiscard]] outbox const& out(connection_id to) const;

  // An event that does not come from the core: passed to the log by the next deliver.
  void report(core::event what) { events_.report(std::move(what)); }

  // The inputs of the core, as far as they are kept.
  [[nodiscard]] std::string recording() const { return core_.recording(); }

  // Queries of the core, which do not change it.
  [[nodiscard]] core::snapshot look(time_point now) const { return core_.logic().look(now); }
  [[nodiscard]] bool done() const { return core_.logic().done(); }
  [[nodiscard]] bool drained() const { return core_.logic().drained(); }
  [[nodiscard]] std::optional<job_error> const& error() const { return core_.logic().error(); }
  [[nodiscard]] std::size_t connections() const noexcept { return lines_.size(); }
  [[nodiscard]] std::uint64_t rounds_ended() const noexcept {
    return core_.logic().counts().barrier_wait.count();
  }
  [[nodiscard]] core::coordinator const& logic() const noexcept { return core_.logic(); }

  // The service for unmodified JAX processes.
  [[nodiscard]] xla::xla_service const& xla_service() const noexcept { return grpc_.xla_service(); }

  // Complete messages received and sent.
  [[nodiscard]] std::uint64_t frames_received() const noexcept {
    return frames_received_ + grpc_.calls_received() + tcp_store_.requests_received();
  }
  [[nodiscard]] std::uint64_t frames_sent() const noexcept {
    return frames_sent_ + grpc_.replies_sent() + tcp_store_.replies_sent();
  }

  // How loop iterations are shared, and how long connections waited.
  [[nodiscard]] step_scheduler const& steps() const noexcept { return steps_; }

  // The pending output in all outboxes: encoded bytes, and unencoded messages.
  struct backlog {
    std::size_t bytes{};
    std::size_t messages{};
    std::size_t routes_paused{};  // that their clients do not read
  };
  [[nodiscard]] backlog queued() const;

  // Counters of what it has done.
  void count(statistics& all) const;

  // Asserts the invariants, here and in the core.
  void check_invariants() const;

 private:
  // A waiting connection is not read, so its silence does not count: how often the core is informed
  // that it lives.
  static constexpr duration heard_period = 50ms;

  [[nodiscard]] static taken state_of(line const& on) noexcept {
    if (on.reading_paused) return taken::reading_paused;
    return on.steps.waits ? taken::waits : taken::all;
  }
  connection_id add_line(time_point now, std::string peer, core::session_secret const& secret,
                         std::unique_ptr<line> line);
  void heard(time_point now, connection_id from, line& on);
  [[nodiscard]] bool take_frames(time_point now, connection_id from, line& on);
  taken hear_grpc(time_point now, connection_id from, line& on, std::string_view input);
  taken hear_tcp_store(time_point now, connection_id from, line& on, std::string_view input);
  void malformed(time_point now, connection_id from, line& on, status const& why);

  // Output (dispatch_output.cpp).
  [[nodiscard]] bool has_much_to_send() const;
  bool relieve_core(time_point now);
  void collect(time_point now);
  [[nodiscard]] bool has_output() const {
    return collected_ != outgoing_.size() || core_.logic().unsent() != 0;
  }
  // Unless the next part may have the same answers.
  void forget_encoded() {
    if (collected_ == outgoing_.size()) encoder_.forget();
  }
  void take_changed(std::vector<connection_id>& dirty);
  void hold_back(connection_id to, line& on);
  void answer_heartbeat(time_point now, connection_id from, line& on);
  void show_life(time_point now, connection_id to);

  // Routes (dispatch_routes.cpp).
  void begin_trunk(connection_id from, line& on);
  [[nodiscard]] status take_routed(time_point now, connection_id from, line& on,
                                   std::string_view payload);
  [[nodiscard]] status open_route(time_point now, connection_id from, line& on,
                                  wire::routed const& what);
  [[nodiscard]] status take_content(time_point now, connection_id id, line& on,
                                    std::string_view content);
  [[nodiscard]] status make_room(time_point now, connection_id id, line& on, std::size_t bytes);
  [[nodiscard]] status take_living(time_point now, line& on, std::string_view silent);
  void settle_route(time_point now, connection_id id, line& on);
  [[nodiscard]] bool has_routes_to_go_on() const noexcept {
    return lines_.has_to_go_on() || steps_.has_queue();
  }
  void go_on_routes(time_point now);
  void go_on_route(time_point now, connection_id id, line& on);
  [[nodiscard]] bool is_slowed(time_point now, connection_id id, line& on);
  void go_on_slowed(time_point now);
  bool share(time_point now, core::outgoing const& what, line& on);
  void pump_routes(time_point now, line& on);
  void carry(time_point now, connection_id id, line& on, outbox& into);
  void end_route(time_point now, connection_id id, line& on);

  // The output for a connection up to a position, which waits for a batch.
  struct held_output {
    std::uint64_t batch{};
    connection_id to;
    std::int64_t through{};
  };

  recorded_core core_;
  event_reporter events_;
  encoder encoder_;
  line_table lines_;
  step_scheduler steps_;
  backpressure memory_;
  grpc_connections grpc_;
  tcp_store_connections tcp_store_;
  std::size_t queued_bytes_max_;
  core::client_message message_;  // the last one, whose memory the next one uses
  std::function<void(core::stacks_wanted const&)> wants_stacks_;  // of the owner
  std::vector<core::outgoing> outgoing_;
  std::size_t collected_{};  // how many of them were handled
  fifo<held_output> held_;
  std::string heartbeat_;            // the reply to one
  time_point now_;                   // of the last input
  std::uint64_t frames_received_{};  // from native connections
  std::uint64_t frames_sent_{};      // to native connections
  std::size_t trunks_{};
  std::size_t routes_{};
  std::uint64_t routes_opened_{};
  std::uint64_t exits_reported_{};                       // by relays
  std::uint64_t replies_shared_{};                       // by routes
  host_pace wrong_tokens_{wrong_tokens_per_second_max};  // of routes
  std::multimap<time_point, connection_id> slowed_;      // routes whose goodbye waits
};

}  // namespace coxswain::server
