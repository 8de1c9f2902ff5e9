#pragma once
// The coordinator's logic: all decisions about sessions, tasks, barriers and keys. No I/O, no
// clock, no locks, no callbacks. Inputs go in through the functions below, with the time at which
// they happened; effects come out as data from `take_outgoing`. Same input, same output. Not here:
// frames and Protobuf (wire), sockets (server).
//
// Times must not go backwards, except that of `advance`. Not thread-safe.

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
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

struct concerns;

// The state of the barrier of one name.
struct barrier_history {
  round_number passed{};  // the last round that all its participants have passed; zero: none
  round_number open{};    // the round that is open; zero: none
  std::string missing;    // the tasks missing from it, for people
};

class coordinator {
 public:
  coordinator(config options, incarnation self, time_point now);
  ~coordinator();
  // A moved-from coordinator can only be destroyed or assigned to.
  coordinator(coordinator&&) noexcept;
  coordinator& operator=(coordinator&&) noexcept;

  // A connection was accepted. `peer` is its address for people; `secret` is random and becomes
  // the resume secret of the session that the connection may open.
  connection_id connected(time_point now, std::string peer, session_secret secret);

  // A complete message was received. Messages after the connection's goodbye are ignored.
  void received(time_point now, connection_id from, client_message&& message);

  // Part of a message was received: a sign of life.
  void heard(time_point now, connection_id from);

  // The relay of this connection has heard from its client recently: the client lives, but this is
  // no response to a probe.
  void vouched(time_point now, connection_id from);

  // The input violates the protocol: the connection gets a goodbye with `why`, its session ends and
  // its tasks fail (§2.6, §2.7).
  void malformed(time_point now, connection_id from, std::string why);

  // The connection is gone, whichever side closed it. Exactly once for each `connected`, also after
  // a goodbye; the id is not used again.
  void lost(time_point now, connection_id from, loss how);

  // The peer reads nothing although output waits for it; or it reads again.
  void write_blocked(time_point now, connection_id to);
  void write_progressed(time_point now, connection_id to);

  // Reading from the peer is paused until it has read its pending output; or it is resumed. While
  // paused, its silence does not count: its reading is the sign of life. Both are idempotent.
  void reading_paused(time_point now, connection_id from);
  void reading_resumed(time_point now, connection_id from);

  // An input of the coordinator's owner: see owner_input, also for errors.
  status put_in(time_point now, owner_input what);

  // The earliest moment at which `advance` has something to do. May change after any other call.
  [[nodiscard]] std::optional<time_point> next_deadline() const;

  // Handles everything due at or before `now`. Read all ready connections first.
  void advance(time_point now);

  // The messages to send, in order. Swapped with `into`, which is cleared first.
  void take_outgoing(std::vector<outgoing>& into);

  // How many of these there are.
  [[nodiscard]] std::size_t unsent() const;
  // The size of the large replies among them.
  [[nodiscard]] std::size_t unsent_bytes() const;

  // The events to log, in order. Swapped with `into`, which is cleared first.
  void take_events(std::vector<event>& into);

  // How many of these there are.
  [[nodiscard]] std::size_t untold() const;

  // The largest frame that the connection may send: 16 KiB before a successful handshake.
  [[nodiscard]] std::size_t frame_bytes_max(connection_id of) const;

  // Whether the connection's session is that of a relay, which may have routes.
  [[nodiscard]] bool is_relay(connection_id who) const;

  // The memory share of the connection's session; none if it has no session.
  [[nodiscard]] std::optional<share_kind> share_of(connection_id who) const;

  // The bytes of `memory` that all sessions of a kind hold in waiting calls, unacknowledged replies
  // and open rounds.
  [[nodiscard]] std::size_t held_by(share_kind kind) const;

  // The address and the secret with which the connection was accepted. It must be known.
  [[nodiscard]] std::string const& peer_of(connection_id who) const;
  [[nodiscard]] session_secret const& secret_of(connection_id who) const;

  // The address of a peer that was refused for its token; null for others.
  [[nodiscard]] std::string const* wrong_token(connection_id of) const;

  // Whether the job has started: all tasks have been joined at the same time.
  [[nodiscard]] bool job_has_started() const noexcept;

  // How the job is: what `look` has as its state, but not the rest.
  [[nodiscard]] job_state state(time_point now) const;

  // A snapshot of the whole job.
  [[nodiscard]] snapshot look(time_point now) const;

  // The counters so far.
  [[nodiscard]] statistics const& counts() const;

  // Which tasks wait for what, and which are deadlocked.
  [[nodiscard]] why_answer why(time_point now) const;

  // Whether a task that holds up others should be asked whether it answers: as owner_input.
  [[nodiscard]] bool has_to_ask(time_point now) const;

  // The stacks that were asked for last.
  [[nodiscard]] stacks_answer stacks(time_point now) const;

  // The events after this one, or all that are kept, or the last of each severity; only those at
  // least this severe, as many as fit one reply. And the number of the last one.
  [[nodiscard]] events_answer events(std::optional<std::uint64_t> after, severity at_least,
                                     std::size_t last_of_each = 0) const;
  [[nodiscard]] std::uint64_t last_event() const;

  // The first keys that begin with `prefix` and come after `after`, in byte order, up to a limit.
  [[nodiscard]] listing_answer keys(std::string const& prefix, std::string const& after,
                                    std::size_t most) const;

  // INVALID_ARGUMENT: not a valid key. NOT_FOUND: it has no value.
  [[nodiscard]] result<value_answer> value(std::string_view key) const;

  // For a replay, whose values are placeholders: replaces the value of a key by one of the same
  // length, without a change or a version. Returns the old value; does nothing if there is none.
  bytes exchange_value(std::string_view key, bytes by);

  // A name that has not been used for a long time is forgotten.
  [[nodiscard]] barrier_history history(time_point now, std::string_view barrier) const;

  // The task that a process with this member name holds, or was the last to hold. None: there is no
  // such member, or it has no number yet.
  [[nodiscard]] std::optional<task_id> task_of_member(std::string const& name) const;

  // All tasks have joined once and have left or failed: the job is over.
  [[nodiscard]] bool done() const;
  [[nodiscard]] std::optional<job_error> const& error() const;

  // It was stopped, by its owner or on request.
  [[nodiscard]] bool is_stopping() const;
  // Nobody may join: when it is done, it can stop.
  [[nodiscard]] bool is_draining() const;
  // It refuses this request, whatever its arguments are: nothing may be stored (storing_refused).
  [[nodiscard]] bool refuses_to_store(request const& what) const;
  // It is a put whose outcome may depend on whether it has the key's value, of equal length.
  [[nodiscard]] bool compares_value(request const& what) const;

  // The present term (config::term), and the highest one that a client has seen, if that is higher:
  // then another coordinator has replaced this one.
  [[nodiscard]] std::uint64_t term() const;
  [[nodiscard]] std::optional<std::uint64_t> newer_term() const;

  // No session is left but those of relays.
  [[nodiscard]] bool is_deserted() const;

  // No session still owes an acknowledgement of its leave reply (§1.3).
  [[nodiscard]] bool drained() const;

  [[nodiscard]] config const& options() const;
  [[nodiscard]] incarnation self() const;

  // Counts the core's memory and, for the server, messages in transit, on which no reply of the
  // core depends.
  [[nodiscard]] meter_ptr const& memory() const;

  // Writes a snapshot: the complete state, also of output that was not taken yet. `to` gets its
  // bytes in pieces. It has values and resume secrets, but no tokens. Returns the digest.
  std::uint64_t save(std::function<void(std::string_view)> const& to) const;

  // A digest of the complete state: equal states have equal digests, in any process, and whatever
  // the clock showed at the start. Its time is that of writing a snapshot.
  [[nodiscard]] std::uint64_t digest() const;

  // The coordinator of a snapshot, which goes on exactly as the one that was saved. `started` is
  // when that one started, by the caller's clock: it must not be the epoch of that clock, and the
  // next input must not be earlier than `uptime` after it. Credentials and version are those of
  // `options`; all other options must be as they were.
  // DATA_LOSS: the snapshot is damaged. FAILED_PRECONDITION: it is of a newer behaviour, or an
  // option differs. Takes memory in proportion to the snapshot.
  [[nodiscard]] static result<coordinator> load(config options, std::string_view snapshot,
                                                time_point started);

  // The time from the start to the last input.
  [[nodiscard]] duration uptime() const;

  // Aborts if an invariant is broken, in every build. For tests and the simulation.
  void check_invariants() const;

 private:
  explicit coordinator(std::unique_ptr<concerns> all);

  std::unique_ptr<concerns> all_;
};

}  // namespace coxswain::core
