#pragma once
// Sessions and their connections: which connection carries which session, which requests are open,
// and which replies are kept for a client that may resume (§2.2). All replies are sent
// through here, so that each is counted. Not here: what requests mean (coordinator).

#include "coxswain/base/fifo.hpp"
#include "coxswain/core/kernel/deadlines.hpp"
#include "coxswain/core/kernel/liveness.hpp"
#include "coxswain/core/kernel/open_requests.hpp"
#include "coxswain/core/kernel/origin.hpp"
#include "coxswain/core/kernel/rare_string.hpp"
#include "coxswain/core/kernel/shares.hpp"
#include "coxswain/core/kernel/slot_map.hpp"
#include "coxswain/core/kernel/ticket.hpp"
#include "coxswain/core/membership/guests.hpp"
#include "coxswain/core/model/messages.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/container/vector.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

// A reply that the client may not have received yet.
struct kept_reply {
  std::uint64_t ordinal{};  // zero: not sent since it was made or since the session resumed
  request_id request{};
  answer_ptr what;
  rare_string hands_over;  // the source of the item it hands over, such as a queue; empty: none
  concern_index of{};      // the concern that takes it back if it is not received
  bool is_leave{};
};

// An item that a reply handed over and that was not received.
struct undelivered {
  concern_index of;
  std::string name;
  answer_ptr what;
};

// In the name of a client's peer: between that of its relay and what the relay calls it.
inline constexpr std::string_view via_relay = " via relay, ";

struct connection {
  std::string peer;
  session_secret secret{};
  session_id session{};    // zero before the handshake and after the session went elsewhere
  std::uint64_t number{};  // in the order in which they were accepted
  liveness opened;
  liveness blocked;                        // since when the peer reads nothing
  std::optional<liveness> reading_paused;  // since when reading is paused
  alarm hello;
  alarm stalled_reader;
  bool closing{};      // a goodbye was sent
  bool wrong_token{};  // because of its token
};

[[nodiscard]] inline bool is_relayed(connection const& c) {
  return c.peer.find(via_relay) != std::string::npos;
}

// For lists that are usually empty: the object is smaller than a std::vector.
template <class T>
using rare_list = boost::container::vector<
    T, void, boost::container::vector_options<boost::container::stored_size<std::uint32_t>>::type>;

// Most sessions have one task: it needs no allocation.
using task_list = boost::container::small_vector<task_id, 1>;

struct session {
  session_secret secret{};
  connection_id attached{};  // zero while its connection is lost
  std::uint64_t carrier{};   // the number of the connection that carried it last
  origin from;
  task_list tasks;                  // joined or joining; a task knows its place in it
  rare_list<task_id> replaced;      // it acted for these until another session did
  std::unique_ptr<guest> guest_of;  // null: it acts for its own tasks only
  std::uint32_t probed{};           // how many of its tasks are being probed
  std::uint32_t resume_count{};     // of its last Resume
  liveness heard;
  liveness asked;                 // when it was asked whether it answers, while it owes an answer
  time_point answered{};          // when it did so last
  std::optional<liveness> grace;  // while detached after a closed connection
  alarm expiry;
  role given{role::worker};
  bool wrote_since_heartbeat{};
  bool owes_answer{};     // it was asked, and not heard since
  bool takes_stacks{};    // of its tasks' processes
  bool has_sent_bye{};    // without leaving; its grace runs
  bool is_restored{};     // by a restart of the coordinator, and not resumed yet
  bool lost_its_trunk{};  // the grace is that of a relay
  bool produces{};        // keys or items, without having a task
  bool names_job{};       // else it accepts any job, as an observer; for a task it means "default"

  request_id highest{};            // of all requests received
  rare_list<request_id> expected;  // reported unknown at the last resume; not yet sent again
  open_requests open;
  fifo<kept_reply, 1> kept;  // oldest first
  share memory;              // what it holds
  std::uint64_t replies_sent{};
  std::uint64_t answered_through{};
};

class sessions {
 public:
  sessions(meter_ptr memory, std::vector<outgoing>& out) : memory_{std::move(memory)}, out_{out} {}
  ~sessions();
  sessions(sessions const&) = delete;
  sessions& operator=(sessions const&) = delete;

  connection_id add_connection(connection c) {
    c.number = ++connections_made_;
    return connections_.insert(std::move(c));
  }
  void erase_connection(connection_id id) { connections_.erase(id); }
  [[nodiscard]] connection* find(connection_id id) { return connections_.find(id); }
  [[nodiscard]] connection const* find(connection_id id) const { return connections_.find(id); }
  [[nodiscard]] slot_map<connection_id, connection>& connections() { return connections_; }
  [[nodiscard]] slot_map<connection_id, connection> const& connections() const {
    return connections_;
  }

  // Null if the request does not wait.
  [[nodiscard]] parked const* parked_at(ticket who) const;

  session_id add(session s) { return sessions_.insert(std::move(s)); }
  // The session must have nothing open.
  void erase(session_id id);
  [[nodiscard]] session* find(session_id id) { return sessions_.find(id); }
  [[nodiscard]] session const* find(session_id id) const { return sessions_.find(id); }
  [[nodiscard]] slot_map<session_id, session>& all() { return sessions_; }
  [[nodiscard]] slot_map<session_id, session> const& all() const { return sessions_; }

  // Notes that the client has received this many replies. False if fewer were sent.
  [[nodiscard]] bool acknowledge(session& s, std::uint64_t answered_through);

  // Whether a request with this id is valid now: ids rise, except for requests sent again.
  [[nodiscard]] bool admit(session& s, request_id id);

  void park(session& s, request_id id, parked&& p);

  // Adjusts the bytes it holds that are counted elsewhere.
  void hold(session& s, std::size_t bytes) { shares_.add(s.memory, bytes); }
  void let_go(session& s, std::size_t bytes) { shares_.subtract(s.memory, bytes); }

  // Puts the session among those of its kind.
  void classify(session& s) {
    share_kind const kind = kind_of(s);
    if (kind != s.memory.kind) shares_.move(s.memory, kind);
  }
  [[nodiscard]] static share_kind kind_of(session const& s) {
    return !s.tasks.empty() || s.guest_of ? share_kind::task
           : s.given == role::reader      ? share_kind::reader
                                          : share_kind::observer;
  }

  // RESOURCE_EXHAUSTED: the session may not hold this many more bytes; or, if the request would
  // wait, all sessions of its kind together may not.
  [[nodiscard]] status room_for(session const& s, std::size_t more, bool waits) const;

  // The bytes that all sessions of a kind hold.
  [[nodiscard]] std::size_t held_by(share_kind kind) const { return shares_.held_by(kind); }

  // The request waits no longer. Nothing if it did not wait.
  std::optional<parked> unpark(ticket who);

  // Answers a request, which must not be parked. `keep`: the call changed state, so its reply is
  // kept until the client acknowledges it.
  void reply(ticket who, answer_ptr what, bool keep, bool is_leave = false);

  // Answers a request and hands over something of this name, such as an item of a queue; it is
  // undelivered until the client acknowledges the reply.
  void hand_over(ticket who, answer_ptr what, concern_index of, std::string name);

  // Removes and returns the undelivered items of a session that ends.
  std::vector<undelivered> take_undelivered(session& s);
  // Those that a resuming client has not received and does not want: before `resume`.
  std::vector<undelivered> take_unwanted(session& s, std::uint64_t answered_through,
                                         std::vector<request_id> const& open);
  // That of a request which the client cancels, so that a reply in transit will be ignored.
  std::vector<undelivered> take_cancelled(session& s, request_id id);

  // Sends a push; does nothing if the session's connection is lost.
  void push(session& s, answer_ptr what);
  void push(connection_id to, answer_ptr what);

  // Attaches a new connection after a loss. `send_kept` sends again all kept replies that are still
  // wanted; returns the ids in `open`, which rise, that are unknown here.
  std::vector<request_id> resume(session& s, std::uint64_t answered_through,
                                 std::vector<request_id> const& open);
  void send_kept(session& s);

  static void fields(auto& a, auto& s);

 private:
  void count(session& s, std::size_t bytes);
  void uncount(session& s, std::size_t bytes);
  // Counts what sessions hold that were loaded.
  void count_all();
  // Drops a kept reply.
  void forget(session& s, kept_reply const& k);
  void forget_first(session& s);
  void send(ticket who, answer_ptr what, bool keep, bool is_leave, concern_index of,
            rare_string hands_over);
  std::vector<undelivered> take_back(session& s,
                                     std::function<bool(kept_reply const&)> const& is_taken);

  meter_ptr memory_;
  shares shares_;
  std::vector<outgoing>& out_;
  std::uint64_t connections_made_{};
  slot_map<connection_id, connection> connections_;
  slot_map<session_id, session> sessions_;
};

}  // namespace coxswain::core
