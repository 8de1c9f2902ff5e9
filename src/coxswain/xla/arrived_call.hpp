#pragma once
// A call that a client makes: as it was received, and on its way to xla_service's handler of its
// method. Not here: calls that wait for their reply (open_call_table).

#include "coxswain/base/time.hpp"
#include "coxswain/xla/effects.hpp"
#include "coxswain/xla/messages.hpp"
#include "coxswain/xla/methods.hpp"
#include "coxswain/xla/open_call_table.hpp"
#include "coxswain/xla/outcome.hpp"
#include "coxswain/xla/task_session.hpp"

#include <optional>
#include <string_view>
#include <utility>

namespace coxswain::xla {

// Its client waits for `timeout`; without one, as long as it takes.
struct received_call {
  call_id id;
  std::string_view path;
  std::string_view user_agent;
  std::string_view message;
  std::optional<duration> timeout;
  bool is_full{};  // too many replies wait for this client to read them
};

// Private to xla. Refers to its parts, and may take out of `asked` what it needs.
struct arrived_call {
  time_point now;
  received_call const& what;
  method_path of;
  client& by;
  request& asked;
  open_call_table& calls;

  // Answers the call at once.
  void refuse(outcome how) const { calls.answer(opened_by(by), std::move(how)); }
  void succeed(encoded_reply reply = {}) const {
    calls.answer(opened_by(by), {}, std::move(reply));
  }
  // With a reply that says only that the coordinator lives.
  void answer_heartbeat(encoded_reply reply) const {
    calls.answer(opened_by(by), {}, std::move(reply), true);
  }

  // The call as an open one, whose request is one of that session of the core.
  [[nodiscard]] open_call opened_by(carrier& carrier) const {
    open_call made;
    made.from = &by;
    made.stream = what.id.stream;
    made.of = of;
    made.by = &carrier;
    return made;
  }
};

}  // namespace coxswain::xla
