#pragma once
// The agent's options and outputs, as plain data. Not here: the agent.

#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace coxswain::detail {

struct agent_options {
  agent_options() = default;

  std::vector<std::string> addresses;  // at least one
  bool follows_others{};               // a Goodbye may name another one
  core::hello_args hello;
  std::optional<task_id> task;  // the task of calls that name none
  duration connect_timeout{300s};
  std::optional<duration> fence_after;  // none: the heartbeat timeout that the coordinator states
  std::optional<std::uint32_t> hosted_by_task;     // until the coordinator states its own
  std::size_t queued_bytes_max{64 * 1024 * 1024};  // of calls made while disconnected
  std::uint64_t seed{};
};

// A command for the transport to an address, after writing the agent's earlier bytes as far as
// possible without waiting. Several may be being opened, but one that is open is the only one.
// `close` also ends an attempt to open one; after it, do not report anything about that transport
// to the agent.
struct agent_command {
  enum class kind : std::uint8_t { open, close };

  kind what{};
  std::size_t address{};  // agent::address

  [[nodiscard]] bool opens() const noexcept { return what == kind::open; }
};

// The answer to a call.
struct agent_completion {
  request_id call{};
  core::answer what;

  friend bool operator==(agent_completion const&, agent_completion const&) = default;
};

namespace agent_events {

// The session exists: the first connection is established.
struct opened {
  friend bool operator==(opened const&, opened const&) = default;
};

// The connection was lost; it is being replaced. Once per loss.
struct disconnected {
  status why;
  friend bool operator==(disconnected const&, disconnected const&) = default;
};

struct reconnected {
  duration after{};
  friend bool operator==(reconnected const&, reconnected const&) = default;
};

// The coordinator closes the connection; instead of `disconnected`.
struct goodbye_received {
  core::goodbye what;
  friend bool operator==(goodbye_received const&, goodbye_received const&) = default;
};

struct job_failed {
  job_error what;
  friend bool operator==(job_failed const&, job_failed const&) = default;
};

// Of an open barrier call.
struct progressed {
  core::barrier_progress what;
  friend bool operator==(progressed const&, progressed const&) = default;
};

// An agreement on a step has begun: call `frozen`. May be repeated.
struct freeze {
  std::uint64_t agreement{};
  friend bool operator==(freeze const&, freeze const&) = default;
};

// The stacks of processes of this client's task are wanted, in calls of report_stack_args.
struct stacks_wanted {
  core::stacks_wanted what;
  friend bool operator==(stacks_wanted const&, stacks_wanted const&) = default;
};

// For the caller of a call that has succeeded.
struct notice {
  std::string text;
  friend bool operator==(notice const&, notice const&) = default;
};

// A call has waited for long, or the coordinator has been unreachable for long; says for what.
// `idle`: the call can normally wait for hours, as a pop does.
struct waiting {
  std::string text;
  bool idle{};
  friend bool operator==(waiting const&, waiting const&) = default;
};

// The session has ended for good, or could not be opened; not on the client's request.
struct ended {
  status why;
  friend bool operator==(ended const&, ended const&) = default;
};

}  // namespace agent_events

using agent_event =
    std::variant<agent_events::opened, agent_events::disconnected, agent_events::reconnected,
                 agent_events::goodbye_received, agent_events::job_failed, agent_events::progressed,
                 agent_events::freeze, agent_events::waiting, agent_events::notice,
                 agent_events::stacks_wanted, agent_events::ended>;

}  // namespace coxswain::detail
