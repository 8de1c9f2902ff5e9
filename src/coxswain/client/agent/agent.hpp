#pragma once
// The client's logic: one session with the coordinator, which outlives its connections. Knows the
// handshake, which calls are open, when to reconnect and what to send again, heartbeats, deadlines
// and when to give up. No I/O, no clock, no randomness of its own, no callbacks: time and bytes are
// arguments; effects are returned as data. Same input, same output. Not here: sockets, name
// resolution, timers, coroutines (connection).
//
// Rules beyond the protocol's:
// - Tries to connect are made in rounds, as `candidates` says: one address after the other, 100 ms
//   apart, or at once when the last try has failed. The first transport that opens is used, and
//   when the coordinator does not serve the client there, the round goes on. If there are several
//   addresses, a handshake takes at most 1 s, and in each later round twice as long.
// - Rounds wait as `backoff` says. While no session exists: up to 1 s, and one try takes
//   at most 10 s. Afterwards: up to a quarter of the grace (at least 10 ms), and one try takes at
//   most half of it (at least 100 ms). Where the time for a silence is shorter than the grace, it
//   counts. A connection that answered a call, or lasted longer than the
//   longest wait, makes the next try the first one again.
// - A heartbeat is sent when nothing was sent, or nothing received, for a heartbeat period, and
//   each period while a reply is outstanding. The coordinator replies to the second one at the
//   latest;
//   so a silence of one and a half periods after the first heartbeat that followed the last sign
//   of life means that the connection is dead, and another is opened.
//   If the coordinator states a shorter time for a silence, a heartbeat is sent after half of it,
//   and each eighth while a reply is outstanding, and the connection is dead when it has passed. At
//   a Unix socket, as of a relay, if there are other addresses, it is at most one period: so the
//   next address is tried after a third of the timeout.
// - A transport that accepts bytes again after it was full is a sign of life, so that a long
//   upload over a slow line does not count as silence.
// - A Join that asks for it is sent behind the first Hello (§1.2.11). The other calls that
//   are made before the session exists wait for it.
// - A Resume lists the open requests that were sent once; the others follow it as new ones. So its
//   size is bounded by the coordinator's limit of open requests. If it is still too large, for a
// session of very many tasks, the youngest calls end with UNAVAILABLE "outcome unknown".
// - Once the coordinator has answered the leave of all joined tasks, the end of the connection is
//   no loss: the session ends silently.
// - A call that has waited for 2 s reports what it waits for, and again after 2 s, 4 s and so
//   on, up to 30 s. While the coordinator is unreachable: its address, why and since when; already
// after 400 ms if the address refuses connections. While connected: what the coordinator replies
// when asked about the call, or that it has not replied for 1 s. Watches are excluded, since they
// wait for ever.
// - A session whose coordinator's addresses have all refused connections for as long as its
//   HelloReply says ends, unless `fence_after` is given, which then counts alone.
// - A leave that was sent and is the only open call then completes with success: all tasks have
//   left, and the coordinator has ended (§1.3). If neither the coordinator nor the relay
//   may return, the first refusal of all addresses is enough.
// - A coordinator whose term is below one that was seen is not accepted: another has replaced it.
// - An invalid message ends the session, since a retry would not help. In a handshake it means
//   another program's port, and the client retries.
//
// Times must not go backwards. Not thread-safe.

#include "coxswain/client/agent/agent_messages.hpp"
#include "coxswain/client/agent/backoff.hpp"
#include "coxswain/client/agent/call_table.hpp"
#include "coxswain/client/agent/candidates.hpp"
#include "coxswain/client/agent/claim.hpp"
#include "coxswain/client/agent/heartbeats.hpp"
#include "coxswain/client/agent/joined_tasks.hpp"
#include "coxswain/client/agent/outage.hpp"
#include "coxswain/client/agent/outgoing_requests.hpp"
#include "coxswain/client/agent/session_terms.hpp"
#include "coxswain/client/agent/wait_reports.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::detail {

class agent {
 public:
  explicit agent(agent_options options);

  // In. Each may change everything below.

  // Call it once, first.
  void start(time_point now);

  // Opening the transport to an address has come this far; has succeeded, or failed; `refused`: the
  // host is up, but nothing listens.
  void reached(std::size_t address, attempt_stage stage) noexcept;
  void connected(time_point now, std::size_t address);
  void connect_failed(time_point now, std::size_t address, status why, bool refused);

  // One side has rejected the other's certificate, or only one speaks TLS, while the transport was
  // being opened or since. Before there is a session there is no retry (§2.1); later it is
  // a loss like any other.
  void rejected(time_point now, std::size_t address, status why);

  // Bytes were received, in pieces of any size.
  void received(time_point now, std::string_view bytes);

  // The transport was full and accepts bytes again.
  void write_progressed(time_point now);

  // The transport is gone: end of file, or an error.
  void lost(time_point now, status why);

  // Opens a call, which is completed exactly once, unless it is cancelled before. `what` is a
  // request that is answered; `timeout` replaces its own. Ids rise. Its reply is acknowledged when
  // the claim is settled; at once without one.
  request_id call(time_point now, core::request what, duration timeout,
                  std::optional<task_id> task = {}, std::shared_ptr<claim const> claimed_by = {});

  // Cancels the call, here and at the coordinator, also if it is answered and its claim is not
  // settled. Ignored if it is neither.
  void cancel(time_point now, request_id call);

  // Ends the session. `abandoned`: without having left. Open calls complete with CANCELLED.
  void bye(time_point now, bool abandoned);

  // Handles everything due at or before `now`. Read all available input first.
  void advance(time_point now);

  // Out. `into` is cleared first; its capacity is reused.

  // The earliest moment at which `advance` has something to do. May change after any other call.
  [[nodiscard]] std::optional<time_point> next_deadline() const;

  // The addresses of commands. The last one may change when it is opened.
  [[nodiscard]] std::string const& address(std::size_t which) const {
    return candidates_.at(which);
  }
  // The present connection's, or the last one's.
  [[nodiscard]] std::size_t current() const noexcept { return current_; }
  [[nodiscard]] std::string const& address() const { return candidates_.at(current_); }

  // Bytes for the open transport.
  void take_bytes(std::string& into);
  [[nodiscard]] bool has_bytes() const noexcept { return !requests_.bytes().empty(); }

  void take_commands(std::vector<agent_command>& into);
  void take_completions(std::vector<agent_completion>& into);
  void take_events(std::vector<agent_event>& into);

  // The coordinator's HelloReply; none before the session exists.
  [[nodiscard]] std::optional<core::hello_answer> const& session() const noexcept {
    return terms_.stated();
  }
  [[nodiscard]] bool up() const noexcept { return phase_ == phase::up; }
  [[nodiscard]] bool over() const noexcept { return phase_ == phase::over; }
  [[nodiscard]] std::uint64_t reconnects() const noexcept { return reconnects_; }
  [[nodiscard]] std::size_t open_calls() const noexcept { return requests_.calls().size(); }

  // The epoch of an elastic job in which this process is a member, or was last; number zero: none.
  [[nodiscard]] core::epoch_answer const& epoch() const noexcept { return epoch_; }
  // The task has left, because it is not in the next epoch.
  [[nodiscard]] bool is_dismissed() const noexcept { return joined_.are_dismissed(); }
  // Why it is to end; none if it is not.
  [[nodiscard]] std::optional<core::epoch_ends> const& ending() const noexcept { return ending_; }

  // Why the session has ended; OK before.
  [[nodiscard]] status const& end() const noexcept { return end_; }

 private:
  // waiting: nothing is tried. connecting: transports are being opened.
  enum class phase : std::uint8_t { idle, waiting, connecting, greeting, up, over };

  // Calls (agent_calls.cpp).
  [[nodiscard]] status refusal(open_call const& call) const;
  void send(time_point now, core::request what);
  void forget(time_point now, open_call const& call);
  void expire_calls(time_point now);
  [[nodiscard]] time_point expiry(time_point deadline) const;
  [[nodiscard]] status timed_out(time_point now, open_call const& call) const;

  // Long waits.
  void ask_about_waits(time_point now);
  void report_unreachable(time_point now);

  // The session (agent_session.cpp).
  void greeted(time_point now, wire::server_message message);
  void hello_answered(time_point now, core::hello_answer answer);
  void note_volatile(open_call const& call, core::answer const& reply);
  void resume_answered(time_point now, core::resume_answer const& answer);
  void refused(time_point now, core::goodbye const& what);
  void incoming(time_point now, wire::server_message message);
  void pushed(time_point now, core::answer what);
  void note_epoch(core::answer const& what);
  void goodbye_received(time_point now, core::goodbye what);
  void malformed(time_point now, status const& why);
  void went_up(time_point now);
  void disconnect(time_point now, status why);
  void attempt_failed(time_point now, std::size_t address, status why, bool refused = false);
  void expire_attempts(time_point now);
  void begin_round(time_point now);
  void open_next(time_point now);
  void close_transport();
  void end_quietly();
  void give_up(status why, bool outcome_matters = true);
  void coordinator_gone();
  void leave_unanswered();
  void send_heartbeat(time_point now);
  [[nodiscard]] std::string missing_answer(std::size_t address) const;
  [[nodiscard]] status obstacle(time_point now) const;
  [[nodiscard]] status unreachable(time_point now) const;
  [[nodiscard]] status fenced() const;
  [[nodiscard]] status replaced(std::uint64_t term) const;
  [[nodiscard]] bool only_waits_to_leave() const;
  [[nodiscard]] bool has_transport() const noexcept;
  [[nodiscard]] time_point attempts_until() const;
  [[nodiscard]] time_point handshake_until(time_point now) const;
  [[nodiscard]] time_point refused_until() const;
  [[nodiscard]] time_point gives_up_at() const;

  agent_options options_;
  phase phase_{phase::idle};
  status end_;
  session_terms terms_;
  outgoing_requests requests_;
  wait_reports waits_;
  joined_tasks joined_;
  core::epoch_answer epoch_;
  std::optional<core::epoch_ends> ending_;
  heartbeats life_;
  outage outage_;
  std::uint64_t reconnects_{};

  // The transport.
  wire::frame_decoder decoder_;
  backoff backoff_;
  candidates candidates_;
  std::size_t current_{};   // the address of the transport
  std::uint32_t rounds_{};  // since there was a connection
  bool waits_for_round_{};  // the round has not begun
  time_point started_at_{};
  time_point next_at_{};          // waiting, connecting: another address is tried
  time_point handshake_until_{};  // greeting
  time_point up_at_{};

  // Out.
  std::vector<agent_command> commands_;
  std::vector<agent_event> events_;
};

}  // namespace coxswain::detail
