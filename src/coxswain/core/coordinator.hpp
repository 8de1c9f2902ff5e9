#pragma once
// The coordinator's brain: all decisions about sessions, tasks, barriers and keys. No I/O, no
// clock, no locks, no callbacks. Everything that happens is put in by one of the verbs below with
// the time at which it happened; what follows from it is taken out as data by `take_outgoing`.
// Same input, same output. Not here: frames and Protobuf (wire), sockets (server).
//
// Times put in must not go backwards, but for that of `advance`. Not thread-safe.

#include "coxswain/base/bytes.hpp"
#include "coxswain/core/config.hpp"
#include "coxswain/core/kernel/shares.hpp"
#include "coxswain/core/model/event.hpp"
#include "coxswain/core/model/loss.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/model/owner_input.hpp"
#include "coxswain/core/observe/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

struct concerns;

// How far the tasks have come at the barriers of one name.
struct barrier_history {
  round_number passed{};  // the last round that all its participants have passed; zero: none
  round_number open{};    // the round that is open; zero: none
  std::string missing;    // who is missing from it, for people
};

class coordinator {
 public:
  coordinator(config options, incarnation self, time_point now);
  ~coordinator();
  coordinator(coordinator const&) = delete;
  coordinator& operator=(coordinator const&) = delete;

  // A connection was accepted. `peer` is its address for people; `secret` is random and becomes
  // the resume secret of the session that the connection may open.
  connection_id connected(time_point now, std::string peer, session_secret secret);

  // A whole message came in. Messages of a connection that was told goodbye are ignored.
  void received(time_point now, connection_id from, client_message&& message);

  // Something will come from this connection soon: these ask for the memory that it takes
  // (base/prefetch), in this order and some time apart, since each finds by the one before.
  void prefetch(connection_id from) const;
  void prefetch_session(connection_id from) const;
  void prefetch_requests(connection_id from) const;

  // Bytes came in that are no whole message yet: a sign of life.
  void heard(time_point now, connection_id from);

  // What came in is no protocol: the connection gets a goodbye that says `why`, its session ends
  // and its tasks fail (semantics D23, D25).
  void malformed(time_point now, connection_id from, std::string why);

  // The connection is gone, whoever closed it. Exactly once for each `connected`, also after a
  // goodbye; the id is not used again.
  void lost(time_point now, connection_id from, loss how);

  // The peer reads nothing although something waits to be written to it; and: it reads again.
  void write_blocked(time_point now, connection_id to);
  void write_progressed(time_point now, connection_id to);

  // Nothing is read from the peer until it has taken what waits for it; and: it is read again.
  // Meanwhile its silence says nothing: that it reads is its sign of life. Said again, either
  // changes nothing.
  void reading_paused(time_point now, connection_id from);
  void reading_resumed(time_point now, connection_id from);

  // The owner of the coordinator has something to say: see owner_input, also for errors.
  status put_in(time_point now, owner_input what);

  // The earliest moment at which `advance` has something to do. May change after any other call.
  [[nodiscard]] std::optional<time_point> next_deadline() const;

  // Everything that is due at or before `now`. Read all ready connections first.
  void advance(time_point now);

  // What is to be sent, in order. Swapped with `into`, which is cleared first.
  void take_outgoing(std::vector<outgoing>& into);

  // How many of these there are.
  [[nodiscard]] std::size_t unsent() const;
  // The size of the large answers among them.
  [[nodiscard]] std::size_t unsent_bytes() const;

  // What is to be logged, in order. Swapped with `into`, which is cleared first.
  void take_events(std::vector<event>& into);

  // How many of these there are.
  [[nodiscard]] std::size_t untold() const;

  // The largest frame that the connection may send: 16 KiB before a successful handshake.
  [[nodiscard]] std::size_t frame_bytes_max(connection_id of) const;

  // Which share of the memory the connection's session belongs to; nothing if it has no session.
  [[nodiscard]] std::optional<share_kind> share_of(connection_id who) const;

  // The bytes of `memory` that all sessions of a kind hold in waiting calls, unacknowledged replies
  // and open rounds.
  [[nodiscard]] std::size_t held_by(share_kind kind) const;

  // The address and the secret with which the connection was accepted. It must be known.
  [[nodiscard]] std::string const& peer_of(connection_id who) const;
  [[nodiscard]] session_secret const& secret_of(connection_id who) const;

  // The address of a peer that was refused for its token; null for others.
  [[nodiscard]] std::string const* wrong_token(connection_id of) const;

  // All tasks were there at once, for the first time.
  [[nodiscard]] bool job_has_started() const noexcept;

  // A picture of the whole job.
  [[nodiscard]] snapshot look(time_point now) const;

  // What was counted so far.
  [[nodiscard]] statistics const& counts() const;

  // Who waits for what, and who can never go on.
  [[nodiscard]] why_answer why(time_point now) const;

  // The events after this one, or all that are kept, or of those the last of each severity; of
  // them, those at least so severe, as many as one answer may hold. And the number of the last one.
  [[nodiscard]] events_answer events(std::optional<std::uint64_t> after, severity at_least,
                                     std::size_t last_of_each = 0) const;
  [[nodiscard]] std::uint64_t last_event() const;

  // The keys that begin with `prefix` and come after `after`, in byte order, at most so many.
  [[nodiscard]] listing_answer keys(std::string const& prefix, std::string const& after,
                                    std::size_t most) const;

  // INVALID_ARGUMENT: it is no key. NOT_FOUND: it has no value.
  [[nodiscard]] result<value_answer> value(std::string_view key) const;

  // For a replay, whose values are stand-ins: the value of a key becomes another one of the same
  // length, and nobody notices. Returns the one that it had; nothing happens if it had none.
  bytes exchange_value(std::string_view key, bytes by);

  // Of a name that was not used for long nothing is known any more.
  [[nodiscard]] barrier_history history(time_point now, std::string_view barrier) const;

  // All tasks have joined once and have left or failed: the job is over.
  [[nodiscard]] bool done() const;
  [[nodiscard]] std::optional<job_error> const& error() const;

  // No session still owes an acknowledgement of its leave reply (semantics D11).
  [[nodiscard]] bool drained() const;

  [[nodiscard]] config const& options() const;

  // Counts what the core owns and, for the server, what is in transit, of which nothing that the
  // core answers depends.
  [[nodiscard]] std::shared_ptr<memory_meter> const& memory() const;

  // Ends the program if something does not hold that always must, in every build. For tests and
  // the simulation.
  void check_invariants() const;

 private:
  std::unique_ptr<concerns> all_;
};

}  // namespace coxswain::core
