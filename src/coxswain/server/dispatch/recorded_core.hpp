#pragma once
// The core, whose inputs and outputs are recorded: every input is recorded before the core gets it,
// also those of the service for JAX processes (xla). And the memory reserved to complete
// operations. Times must not go backwards, except that of `advance`. Not thread-safe. Not here: the
// inputs' meaning (core/coordinator), the recording (recorder).

#include "coxswain/base/memory_reserve.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/server/journal/core_origin.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/server/recording/recorder.hpp"
#include "coxswain/xla/core_port.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::server {

class recorded_core final : public xla::core_port {
 public:
  recorded_core(options const& o, core_origin from);

  // The reserves of an operation, in use until the result is destroyed. Nothing new begins while
  // memory is exhausted: `beginning` throws std::bad_alloc. Ends, deadlines and answers cannot be
  // refused: for them, `completing`.
  [[nodiscard]] memory_reserve::use beginning();
  [[nodiscard]] memory_reserve::use completing();

  // The inputs, as of core::coordinator. Without memory, `connected` throws std::bad_alloc, and the
  // core has no connection.
  connection_id connected(time_point now, std::string peer,
                          core::session_secret const& secret) override;
  void received(time_point now, connection_id from, core::client_message&& what) override {
    received(now, from, {}, std::move(what));
  }
  // `what` was decoded from `payload`.
  void received(time_point now, connection_id from, wire::decoded_payload const& payload,
                core::client_message&& what) {
    recorder_.write_message(now, from, payload, what, core_);
    core_.received(now, from, std::move(what));
  }
  void heard(time_point now, connection_id from) override {
    recorder_.write(now, wire::record_kind::heard, from);
    core_.heard(now, from);
  }
  void vouched(time_point now, connection_id from) {
    recorder_.write(now, wire::record_kind::vouched, from);
    core_.vouched(now, from);
  }
  void session_lost(time_point now, connection_id from, core::loss how) override {
    lost(now, from, how);
  }
  void malformed(time_point now, connection_id from, std::string why);
  void lost(time_point now, connection_id from, core::loss how);
  void write_blocked(time_point now, connection_id to);
  void write_progressed(time_point now, connection_id to);
  void reading_paused(time_point now, connection_id from);
  void reading_resumed(time_point now, connection_id from);
  status put_in(time_point now, core::owner_input what);
  void advance(time_point now);

  // The outputs: swapped with `into`, which is cleared first.
  void take_outgoing(time_point now, std::vector<core::outgoing>& into) {
    core_.take_outgoing(into);
    recorder_.write_sent(now, into);
    if (holds_output()) show_leader(now, into);
  }
  void take_events(time_point now, std::vector<core::event>& into);

  // Everything that leaves the process must wait for this: all inputs so far are in the journal, if
  // there is one. An error is final (journal::commit).
  [[nodiscard]] bool is_committed() const noexcept {
    return journal_ == nullptr || !journal_->has_uncommitted();
  }
  status commit() { return journal_ == nullptr ? status{} : journal_->commit(); }

  // Unless committing is enough: it must also wait until the batch of the last input is durable.
  [[nodiscard]] bool holds_output() const noexcept {
    return journal_ != nullptr && !journal_->is_immediate();
  }
  [[nodiscard]] std::uint64_t last_batch() const noexcept {
    return journal_->committed() + (journal_->has_uncommitted() ? 1 : 0);
  }
  [[nodiscard]] bool is_durable(std::uint64_t batch) const noexcept {
    return batch <= journal_->durable();
  }

  // The queries of the core, which do not change it.
  [[nodiscard]] core::coordinator const& logic() const noexcept { return core_; }
  [[nodiscard]] memory_meter const& memory() const { return *core_.memory(); }

  // The recorded inputs, as far as they are kept.
  [[nodiscard]] std::string recording() const { return recorder_.recording(); }

 private:
  void show_leader(time_point now, std::vector<core::outgoing>& in) const;

  journal* journal_;
  recorder recorder_;
  core::coordinator core_;
  memory_reserve for_requests_;
  memory_reserve for_ends_;
};

}  // namespace coxswain::server
