#pragma once
// Connections and the lifetime of sessions: signs of life, losses, and the effects of a session's
// end (§4.1, §4.2).

#include "coxswain/core/coordinator.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/sessions.hpp"

#include <optional>
#include <string>

namespace coxswain::core {

class connection_verbs final : public concern {
 public:
  using concern::concern;

  // See the functions of coordinator.
  connection_id connected(time_point now, std::string peer, session_secret secret);
  void heard(time_point now, connection_id from);
  void vouched(time_point now, connection_id from);
  void malformed(time_point now, connection_id from, std::string why);
  void lost(time_point now, connection_id from, loss how);
  void write_blocked(time_point now, connection_id to);
  void write_progressed(time_point now, connection_id to);
  void reading_paused(time_point now, connection_id from);
  void reading_resumed(time_point now, connection_id from);
  [[nodiscard]] std::size_t frame_bytes_max(connection_id of) const;
  [[nodiscard]] bool is_relay(connection_id who) const;
  [[nodiscard]] std::optional<share_kind> share_of(connection_id who) const;
  [[nodiscard]] bool is_deserted() const;
  [[nodiscard]] bool drained() const;
  // The relays, and what they carry.
  void show(snapshot& in) const;

  void hello_due(time_point now, connection_id id);
  void stalled_reader_due(time_point now, connection_id id);
  void check_expiry(time_point now, session_id id);

  void note_life(time_point now, session& s);
  void arm_expiry(session_id id, session& s);
  // A client announces that it goes without leaving.
  void bye(time_point now, session_id by, bye_args const& args);
  void say_goodbye(connection_id to, status why, bool may_resume, bool restarted = false);
  void say_goodbye_to_all(status const& why, bool may_resume);
  // All connections are gone, without effects on their sessions.
  void forget_connections();
  void end_session(time_point now, session_id id, status const& why);

  void save(state_writer&) const override {}
  void load(state_reader&) override {}
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point now, status const& why) override;
  void check_invariants() const override;
  [[nodiscard]] std::size_t armed() const override;

 private:
  void suspect(time_point now, session_id id, std::string const& why);
  [[nodiscard]] bool learns_end(session const& s) const;
  [[nodiscard]] bool never_resumes(session const& s) const;
  [[nodiscard]] time_point expiry_of(session const& s) const;
  [[nodiscard]] status expired(time_point now, session const& s) const;
  void check_session(session_id id, session const& s) const;
};

}  // namespace coxswain::core
