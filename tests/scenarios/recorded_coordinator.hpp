#pragma once
// A coordinator whose inputs and outputs are recorded as by the server's dispatch, without frames.

#include "coxswain/core/coordinator.hpp"
#include "coxswain/server/recording/recorder.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::scenarios {

class recorded_coordinator {
 public:
  recorded_coordinator(core::config const& options, incarnation self, time_point now)
      : recorder_{with(options), self, now}, core_{options, self, now} {}

  connection_id connected(time_point now, std::string const& peer, core::session_secret secret) {
    auto const id = core_.connected(now, peer, secret);
    recorder_.write_connected(now, id, peer, secret);
    return id;
  }
  void received(time_point now, connection_id from, core::client_message message) {
    recorder_.write_message(now, from, {}, message, core_);
    core_.received(now, from, std::move(message));
  }
  void malformed(time_point now, connection_id from, std::string const& why) {
    recorder_.write(now, kind::malformed, from, why);
    core_.malformed(now, from, why);
  }
  void lost(time_point now, connection_id from, core::loss how) {
    recorder_.write(now, how == core::loss::closed ? kind::closed : kind::unreachable, from);
    core_.lost(now, from, how);
  }
  void write_blocked(time_point now, connection_id to) {
    recorder_.write(now, kind::write_blocked, to);
    core_.write_blocked(now, to);
  }
  void write_progressed(time_point now, connection_id to) {
    recorder_.write(now, kind::write_progressed, to);
    core_.write_progressed(now, to);
  }
  void put_in(time_point now, core::owner_input const& what) {
    recorder_.write(now, what);
    static_cast<void>(core_.put_in(now, what));
  }
  void advance(time_point now) {
    recorder_.write(now, kind::advanced);
    core_.advance(now);
  }
  void take_outputs(time_point now, std::vector<core::outgoing>& messages,
                    std::vector<core::event>& events) {
    core_.take_outgoing(messages);
    recorder_.write_sent(now, messages);
    core_.take_events(events);
    for (auto const& one : events) recorder_.write_event(now, one);
  }

  [[nodiscard]] std::optional<time_point> next_deadline() const { return core_.next_deadline(); }
  void check_invariants() const { core_.check_invariants(); }
  [[nodiscard]] std::string recording() const { return recorder_.recording(); }

 private:
  using kind = wire::record_kind;

  static server::options with(core::config const& options) {
    server::options made;
    made.core = options;
    made.record = [](std::string_view) {};  // for its digests
    return made;
  }

  server::recorder recorder_;
  core::coordinator core_;
};

}  // namespace coxswain::scenarios
