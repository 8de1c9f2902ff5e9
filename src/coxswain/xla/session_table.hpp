#pragma once
// xla_service's connections, and its sessions of the core: those of tasks, and each connection's
// own. Finds them, and knows which of them are to be forgotten. Private to xla. Not thread-safe.
// Not here: their calls (open_call_table) and their inputs to the core (core_sessions).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/xla/messages.hpp"
#include "coxswain/xla/open_call_table.hpp"
#include "coxswain/xla/task_session.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coxswain::xla {

class session_table {
 public:
  // A connection, and its own session, whose connection of the core has the same id.
  client& add_client(time_point now, connection_id on, std::string peer,
                     core::session_secret const& secret);
  // No session may be bound to it any more.
  void remove_client(client const& which);
  [[nodiscard]] client* find_client(connection_id on) const;
  [[nodiscard]] std::size_t clients() const noexcept { return clients_.size(); }

  // Bound to its connection.
  task_session& add(client& on, task_id task, incarnation self);
  void remove(task_session& s);
  [[nodiscard]] task_session* find(incarnation self) const;
  // The caller of a request on this connection: by its incarnation, if it has one; else by its
  // task, of which the joined session is meant; else the only joined one of the connection.
  [[nodiscard]] task_session* find(request const& asked, client const& on) const;
  [[nodiscard]] std::vector<task_session*> of_task(task_id task) const;
  [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }

  // A session is bound to one connection at most.
  static void bind(task_session& s, client& to);
  void unbind(task_session& s);

  // The connection of the core that carries a session.
  void attach(carrier& carrier, connection_id core);
  // Returns that connection.
  connection_id detach(carrier& carrier);
  [[nodiscard]] carrier* find_carrier(connection_id core) const;

  // A detached session is due when it was not attached again for `limit`.
  void note_detached(time_point now, task_session& s);
  [[nodiscard]] std::optional<time_point> next_due(duration limit) const;
  // Null: none is due. Each is returned once.
  [[nodiscard]] task_session* take_due(time_point now, duration limit);

  // Sessions that have left or ended are remembered, but not more than `most`.
  void note_idle(task_session const& s) { idle_.push_back(s.self); }
  // The oldest one beyond that; null: none. Each is returned once.
  [[nodiscard]] task_session* take_surplus(std::size_t most);

  // Ends the program if something does not hold that always must.
  void check_invariants(open_call_table const& calls) const;

 private:
  std::unordered_map<connection_id, std::unique_ptr<client>> clients_;
  std::unordered_map<incarnation, std::unique_ptr<task_session>> sessions_;
  boost::unordered_flat_map<std::uint32_t, std::vector<task_session*>> by_task_;
  boost::unordered_flat_map<std::uint64_t, carrier*> carriers_;  // by connection of the core
  std::deque<std::pair<time_point, incarnation>> detached_;      // and since when
  std::deque<incarnation> idle_;                                 // the oldest first
};

}  // namespace coxswain::xla
