#pragma once
// xla_service's effects on the connections of its clients, and on the log, as data.

#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/core/model/event.hpp"
#include "coxswain/xla/messages.hpp"
#include "coxswain/xla/outcome.hpp"

#include <cstdint>
#include <variant>

namespace coxswain::xla {

// A call: the connection on which it came, and its stream there.
struct call_id {
  connection_id on{};
  std::int32_t stream{};
  friend bool operator==(call_id, call_id) = default;
};

// The call is answered: with `what` if the outcome is OK.
struct reply {
  call_id to;
  outcome how;
  encoded_reply what{};
  bool says_only_alive{};  // it follows from no earlier input
};

// Asks the client to show that it is alive; `xla_service::pong` takes its answer.
struct ping {
  connection_id to;
};

// The last effect of a connection: close it when all earlier output is written.
struct goodbye {
  connection_id to;
  status why;
};

// An event is for the coordinator's log.
using effect = std::variant<reply, ping, goodbye, core::event>;

}  // namespace coxswain::xla
