#pragma once
// The options of a client, and the events of its connection that it reports while it runs.

#include "coxswain/base/error.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/net/tls_options.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace coxswain {

// Something happened to the client's connection, or somebody waits for long. Calls need no care of
// it: they go on by themselves. It is for logs.
struct client_event {
  enum class kind : std::uint8_t {
    disconnected,  // the connection was lost; the client reconnects
    reconnected,   // the session goes on, nothing was lost
    goodbye,       // the coordinator closed the connection and said why
    lost,          // the coordinator is lost for good: all calls fail, `failure()` completes
    waiting,       // a call, or the connection to the coordinator, takes more than 2 s: for what
  };

  kind what{};
  status why;  // for `reconnected`: OK, with a text that says how long it took; `waiting`: for what

  // `info` for `reconnected`, and for a pop that waits; `error` for `lost`; else `warning`.
  core::severity level{core::severity::warning};

  // "disconnected: UNAVAILABLE: connection to 10.0.0.7:8476 reset by peer".
  [[nodiscard]] std::string text() const;
};

// How a program that `coxswain task` has started acts for the task as which `coxswain task` has
// joined: by a socket and a secret, in COXSWAIN_TASK_SOCKET, _TASK_SECRET and _TASK_INCARNATION.
struct task_pass {
  std::string socket;  // a Unix socket's path
  std::string secret;  // granted for this command
  task_id task;        // COXSWAIN_TASK_ID
  coxswain::incarnation self;
  std::string address;  // the coordinator's, COXSWAIN_ADDRESS

  // Nothing where a variable is missing or malformed: not below `coxswain task`.
  static std::optional<task_pass> from_environment();
};

struct client_options {
  // `address`: "host:port", "[v6]:port" or "unix:/path". Without a task the client is an observer:
  // it may look, use keys and count barriers, but neither join nor take part in barriers.
  explicit client_options(std::string address_of_coordinator);
  client_options(std::string address_of_coordinator, task_id acting_task);
  template <std::integral Number>
  client_options(std::string address_of_coordinator, Number acting_task)
      : client_options{std::move(address_of_coordinator), task_id{acting_task}} {}

  // Reads COXSWAIN_ADDRESS, _TASK_ID, _NUM_TASKS, _JOB, _ATTEMPT, and _TOKEN or _TOKEN_FILE (space
  // around that token is dropped), and _TLS_CA, _TLS_CERT, _TLS_KEY and _TLS_PEER_URI_PREFIX. What
  // of the first three is not there say JAX's variables or the
  // launcher's: see launch/detection.hpp. Empty counts as not set. Throws INVALID_ARGUMENT: no
  // address, or a variable that is malformed or contradicts another; the text names it, its value
  // and what is allowed. An `address` that is given stands over it. Not while another thread
  // changes the environment.
  static client_options from_environment(std::string address = {});

  // Below `coxswain task`: a client with that task and that coordinator, named in any way, acts for
  // the task that `coxswain task` has joined, instead of joining beside it: a guest. Its join
  // finds the task joined, its leave takes effect when the command ends. Read by the constructors,
  // on the same terms as from_environment.
  std::optional<task_pass> pass;
  [[nodiscard]] bool is_guest() const;

  std::string address;

  // The task that this process is; none: an observer.
  std::optional<task_id> task;

  // Whether the task is recoverable: its failure does not fail the job, and it may join again.
  // None: as the coordinator's option says.
  std::optional<bool> recoverable;

  // What the process believes the number of tasks to be. `connect` compares it with the
  // coordinator's; FAILED_PRECONDITION if they differ.
  std::optional<std::uint32_t> num_tasks;

  // The job to meet. Empty: a task's is "default", and who is no task looks at any.
  std::string job;

  // The launcher's restart count, if it has one.
  std::optional<std::uint64_t> attempt;

  // The shared secret, if the coordinator asks for one. The constructors set it to COXSWAIN_TOKEN
  // if `address` is COXSWAIN_ADDRESS, so that a program with a written address runs below
  // `coxswain run`, too.
  std::string token;

  // If any of it is set, TLS is spoken, unless the address is a Unix socket's. Certificates are
  // read whenever a connection is opened; when they cannot be read any more, those before are used.
  tls_options tls;

  // What the client calls itself in logs, on the status page and in errors. "host:pid" if empty.
  std::string label;

  // How long `connect` tries to reach a coordinator that is not there yet.
  time_limit connect_timeout{300s};

  // After so long without a sign of the coordinator the client gives up: all calls fail
  // UNAVAILABLE and `failure()` completes. None: the heartbeat timeout that the coordinator
  // states, or its coordinator_return (30 s) if its address refuses connections. `without_limit`:
  // never.
  std::optional<time_limit> fence_after;

  // Tells this process from an earlier one of the same task. None: drawn at random. That of a guest
  // is its task's.
  std::optional<coxswain::incarnation> incarnation;

  // Told each event, on the client's executor, never from within a call. Must be quick and must
  // not throw: an exception is dropped. Not called any more once the client is destroyed.
  std::function<void(client_event const&)> on_event;

  // The task whose process is the coordinator, for the texts of those who cannot reach it. None: as
  // the coordinator says.
  std::optional<std::uint32_t> hosted_by_task;

  // Where a `connect` that fails leaves its message: see call_options::details.
  diagnostics* connect_details{};

  // The same in one expression.
  client_options with_job(std::string name) && { return job = std::move(name), std::move(*this); }
  client_options with_token(std::string secret) && {
    return token = std::move(secret), std::move(*this);
  }
  client_options with_label(std::string text) && {
    return label = std::move(text), std::move(*this);
  }
  client_options with_tls(tls_options files) && { return tls = std::move(files), std::move(*this); }
  client_options with_num_tasks(std::uint32_t n) && { return num_tasks = n, std::move(*this); }
  client_options with_recoverable(bool yes = true) && {
    return recoverable = yes, std::move(*this);
  }
  client_options with_connect_timeout(time_limit time) && {
    return connect_timeout = time, std::move(*this);
  }
  client_options with_fence_after(time_limit time) && {
    return fence_after = time, std::move(*this);
  }
  client_options with_on_event(std::function<void(client_event const&)> call) && {
    return on_event = std::move(call), std::move(*this);
  }
};

}  // namespace coxswain
