#pragma once
// The service for unmodified JAX processes: translates calls of XLA's coordination service into
// requests of sessions that it opens in the core, and the core's output into replies. All decisions
// are the core's. No I/O, no clock; time is an argument:
//
//   d.opened(now, connection, peer, secret);      a connection speaks gRPC
//   d.called(now, {connection, stream}, ...);     a whole call was received
//   d.sent(now, outgoing);                        the core sends something to a session of its own
//   d.advance(now);                               runs everything due at `next_deadline`
//   d.take_effects(into);                         replies, pings, goodbyes
//
// Each incarnation of a task has a session of the core; see task_session. Not thread-safe. Not
// here: frames and streams (http2), bytes of messages (codec).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/error.hpp"
#include "coxswain/core/model/loss.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/xla/arrived_call.hpp"
#include "coxswain/xla/core_port.hpp"
#include "coxswain/xla/core_sessions.hpp"
#include "coxswain/xla/effects.hpp"
#include "coxswain/xla/job_failure.hpp"
#include "coxswain/xla/life_signs.hpp"
#include "coxswain/xla/messages.hpp"
#include "coxswain/xla/methods.hpp"
#include "coxswain/xla/open_call_table.hpp"
#include "coxswain/xla/reply_writer.hpp"
#include "coxswain/xla/session_table.hpp"
#include "coxswain/xla/strict_barriers.hpp"
#include "coxswain/xla/task_session.hpp"
#include "coxswain/xla/xla_service_options.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::xla {

class xla_service {
 public:
  // `core` must outlive it.
  xla_service(xla_service_options o, incarnation self, core_port& core, meter_ptr memory);
  xla_service(xla_service const&) = delete;
  xla_service& operator=(xla_service const&) = delete;

  // The connection, which the core knows, speaks gRPC: opens a session for it. `peer` is its
  // address for people, `secret` is random and used for nothing else.
  void opened(time_point now, connection_id on, std::string peer,
              core::session_secret const& secret);

  void called(time_point now, received_call const& what);

  // The client no longer waits for a call. `disowned`: because of our GOAWAY; it will be repeated.
  void cancelled(time_point now, call_id which, bool disowned);

  // Bytes were received; and: a ping was acknowledged.
  void heard(time_point now, connection_id from);
  void pong(time_point now, connection_id from);

  // The connection is gone. To be called before the core's `lost`.
  void lost(time_point now, connection_id on, core::loss how);

  // The core sends something to a session; ignored unless xla_service opened it.
  void sent(time_point now, core::outgoing const& what);

  // A loop iteration begins: listings can continue by some pages.
  void begin() noexcept {
    pages_left_ = pages_per_iteration;
    if (shared_ && shared_->what.is_sole()) shared_.reset();
  }

  [[nodiscard]] std::optional<time_point> next_deadline() const;
  void advance(time_point now);

  [[nodiscard]] bool has_effects() const noexcept { return !effects_.empty(); }
  // Swapped with `into`, which is cleared first.
  void take_effects(std::vector<effect>& into);

  // The core requires this token from now on.
  void use_token(std::string token) { options_.token = std::move(token); }

  [[nodiscard]] call_counts const& counted() const noexcept { return calls_.counted(); }
  // The connection that a session of xla_service acts for; zero: there is none.
  [[nodiscard]] connection_id client_of(connection_id session) const;
  // Whether the connection has tasks.
  [[nodiscard]] bool acts_for_tasks(connection_id of) const;
  [[nodiscard]] std::size_t clients() const noexcept { return sessions_.clients(); }
  [[nodiscard]] std::size_t task_sessions() const noexcept { return sessions_.size(); }
  [[nodiscard]] std::size_t open_calls() const noexcept { return calls_.size(); }

  // Ends the program if something does not hold that always must.
  void check_invariants() const;

 private:
  static constexpr int pages_per_iteration = 16;

  void route(arrived_call const& a);
  void register_task(arrived_call const& a);
  void heartbeat(arrived_call const& a);
  void shutdown_task(arrived_call const& a);
  void poll_for_error(arrived_call const& a);
  void report_error(arrived_call const& a);
  void barrier(arrived_call const& a);
  void cancel_barrier(arrived_call const& a);
  void get_alive_tasks(arrived_call const& a);
  void watch_tasks(arrived_call const& a);
  void keys(arrived_call const& a);
  void directory(arrived_call const& a);
  [[nodiscard]] bool repeats_barrier(arrived_call const& a, task_session& s);
  void arrive_at_barrier(arrived_call const& a, task_session& s, std::string name_in_core,
                         std::int64_t counter);
  void strict_barrier(arrived_call const& a, task_session& s);
  [[nodiscard]] bool replaces_barrier(arrived_call const& a, task_session& s);
  void cancel_in_core(arrived_call const& a, strict_barriers::instance const& which);
  void evict_holder(arrived_call const& a, task_id task);
  [[nodiscard]] bool refuses_after_failure(arrived_call const& a) const;

  void took_push(time_point now, carrier& to, core::answer_ptr const& pushed);
  void took_reply(time_point now, carrier& to, request_id id, core::answer_ptr const& what);
  void joined(time_point now, task_session& s, core::answer const& what);
  void left(time_point now, task_session& s, open_call const& call, core::answer const& what);
  void met(open_call& call, core::answer_ptr const& what);
  void met_strictly(open_call const& call, status outcome);
  void finish(request_id id, core::answer const& what);
  void insert_topology(time_point now, request_id id, core::answer const& there);
  void next_page(time_point now, request_id id);
  void took_page(time_point now, request_id id, core::answer const& what);
  void begin_listings(time_point now);
  [[nodiscard]] bool has_room_for_page() const;
  [[nodiscard]] wall_time wall_clock(time_point now) const;
  void freeze(time_point now, task_session& s, core::freeze_request const& asked);
  void give_notice(arrived_call const& a, std::string const& when);
  void sent_goodbye(time_point now, carrier& to, core::goodbye const& what);

  xla_service_options options_;
  incarnation self_;
  meter_ptr memory_;
  std::vector<effect> effects_;
  open_call_table calls_;
  job_failure failure_;
  reply_writer replies_;
  session_table sessions_;
  core_sessions core_;
  life_signs life_;
  std::deque<request_id> waiting_pages_;  // for the next iteration
  // One listing of a directory is made at a time; others wait for it, for memory, or for their
  // client, and share it if it is the same.
  request_id listing_{};
  std::deque<request_id> waiting_listings_;
  time_point listings_due_{};
  struct shared_listing {
    std::string directory;
    std::uint64_t version{};
    bytes what;
  };
  std::optional<shared_listing> shared_;  // while somebody has yet to read it
  std::optional<strict_barriers> strict_;
  int pages_left_{pages_per_iteration};
};

}  // namespace coxswain::xla
