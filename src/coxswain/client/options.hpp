#pragma once
// The options of a client, and the events of its connection that it reports while it runs.

#include "coxswain/base/error.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/client/results.hpp"
#include "coxswain/net/tls_options.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::core {
struct stacks_wanted;
}

namespace coxswain {

// An event of the client's connection, or a long wait, for logs. Calls need no handling of it: they
// continue by themselves.
struct client_event {
  enum class kind : std::uint8_t {
    disconnected,  // the connection was lost; the client reconnects
    reconnected,   // the session continues, nothing was lost
    goodbye,       // the coordinator closed the connection and gave a reason
    lost,          // the coordinator is lost for good: all calls fail, `failure()` completes
    notice,        // what the caller of a call should know: `why` has the text
    waiting,       // a call, or the connection to the coordinator, takes more than 2 s: for what
  };

  kind what{};
  status why;  // for `reconnected`: OK, with a text that says how long it took; `waiting`: for what

  // `info` for `reconnected`, and for a pop that waits; `error` for `lost`; else `warning`.
  severity level{severity::warning};

  // "disconnected: UNAVAILABLE: connection to 10.0.0.7:8476 reset by peer".
  [[nodiscard]] std::string text() const;
};

// How a program started by `coxswain task` acts for the task that `coxswain task` has joined: with
// a socket and a secret, in COXSWAIN_TASK_SOCKET, _TASK_SECRET and _TASK_INCARNATION.
struct task_pass {
  std::string socket;  // a Unix socket's path
  std::string secret;  // granted for this command
  task_id task;        // COXSWAIN_TASK_ID
  coxswain::incarnation self;
  std::string address;  // the coordinator's, COXSWAIN_ADDRESS

  // None if a variable is missing or malformed: not under `coxswain task`.
  static std::optional<task_pass> from_environment();
};

// The parts of a placement that are separated by slashes: "pod1/rack7/b17".
[[nodiscard]] std::vector<std::string> placement_of(std::string_view text);

struct client_options {
  // `address`: "host:port", "[v6]:port" or "unix:/path", or several of them, separated by commas:
  // the client uses whichever serves the job, and tries them in random order at first. Without a
  // task the client is an observer: it may inspect the job, use keys and count barriers, but
  // neither join nor take part in barriers.
  explicit client_options(std::string address_of_coordinator);
  client_options(std::string address_of_coordinator, task_id acting_task);
  template <std::integral Number>
  client_options(std::string address_of_coordinator, Number acting_task)
      : client_options{std::move(address_of_coordinator), task_id{acting_task}} {}

  // Reads COXSWAIN_ADDRESS, _TASK_ID, _NUM_TASKS, _JOB, _ATTEMPT, and _TOKEN or _TOKEN_FILE (space
  // around that token is dropped), without _TASK_ID also _MEMBER, which sets `any`, and _PLACEMENT
  // (its parts separated by slashes), and _TLS_CA, _TLS_CERT, _TLS_KEY and _TLS_PEER_URI_PREFIX.
  // Those of the first three that are not set come from JAX's variables or the launcher's: see
  // launch/detection.hpp. Empty counts as not set. Throws INVALID_ARGUMENT: no address, or a
  // variable that is malformed or contradicts another; the text names it, its value and the
  // expected one. An `address` argument takes precedence. Not while another thread changes the
  // environment.
  static client_options from_environment(std::string address = {});

  // Under `coxswain task`, a client with that task and that coordinator, however specified, is a
  // guest: it acts for the task that `coxswain task` has joined, instead of joining itself. Its
  // join returns at once, its leave takes effect when the command ends. Read by the constructors,
  // under the same conditions as from_environment.
  std::optional<task_pass> pass;
  [[nodiscard]] bool is_guest() const;

  std::string address;

  // The task of this process; none: an observer.
  std::optional<task_id> task;

  // This client does not join as `task`: it has started the process that does, and reports with
  // `report_error` how that one ended. Needs a token of role worker.
  bool supervises{};

  // For programs that have started the process of the task, as `coxswain task` does: called when
  // the coordinator wants its stack (§12.9), which should be reported with core::report_stack_args.
  // On the client's executor; must neither block nor throw. None: nobody asks.
  std::function<void(core::stacks_wanted const&)> wants_stacks;

  // Without a task: the process joins as any, and `client::task` has the number that it gets. Its
  // join waits for one, as a spare while there is none, by default without limit. `member` names
  // the process, such as "b17/0": the next one of that name gets the same number. `placement` is
  // where it runs, from the largest unit to the smallest, such as pod, rack and host: a spare
  // replaces a task nearby.
  bool any{};
  std::string member;
  std::vector<std::string> placement;

  // Whether the task is recoverable: its failure does not fail the job, and it may join again.
  // None: the coordinator's option decides.
  std::optional<bool> recoverable;

  // The number of tasks that the process expects. FAILED_PRECONDITION if the job has another one.
  std::optional<std::uint32_t> num_tasks;

  // The job to join. Empty: "default" for a task, any job for an observer.
  std::string job;

  // The launcher's restart count, if it has one.
  std::optional<std::uint64_t> attempt;

  // The token, if the coordinator requires one. The constructors set it to COXSWAIN_TOKEN if
  // `address` is COXSWAIN_ADDRESS, so that a program with an explicit address also runs under
  // `coxswain run`.
  std::string token;

  // If any of it is set, TLS is used, unless the address is a Unix socket. Certificates are read
  // whenever a connection is opened; if that fails, the previous ones are used.
  tls_options tls;

  // The client's name in logs, on the status page and in errors. "host:pid" if empty.
  std::string label;

  // How long `connect` keeps trying to reach the coordinator.
  time_limit connect_timeout{300s};

  // After this long without any message from the coordinator the client gives up: all calls fail
  // UNAVAILABLE and `failure()` completes. None: the heartbeat timeout that the coordinator states,
  // or its coordinator_return (30 s) if all its addresses refuse connections. `without_limit`:
  // never. A time below the coordinator's restart_grace ends `connect` with INVALID_ARGUMENT.
  std::optional<time_limit> fence_after;

  // Distinguishes this process from an earlier one of the same task. None: random. A guest has that
  // of its task.
  std::optional<coxswain::incarnation> incarnation;

  // Called with each event, on the client's executor, never from within a call. Must be quick and
  // must not throw: an exception is dropped. Not called after the client is destroyed.
  std::function<void(client_event const&)> on_event;

  // How long to poll for messages after each one sent or received, before sleeping until the kernel
  // wakes the thread: replies arrive some microseconds earlier, at the price of a core. At most 1
  // s; zero: never. Nothing is polled for 100 ms after the thread was without a core, or the
  // program kept it, for 0.5 ms. For few clients per thread: each one is polled.
  time_limit spin{};

  // The task whose process hosts the coordinator, for error texts. None: as the coordinator states.
  std::optional<std::uint32_t> hosted_by_task;

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
  client_options with_member(std::string name, std::vector<std::string> where = {}) && {
    return any = true, member = std::move(name), placement = std::move(where), std::move(*this);
  }
  client_options with_connect_timeout(time_limit time) && {
    return connect_timeout = time, std::move(*this);
  }
  client_options with_fence_after(time_limit time) && {
    return fence_after = time, std::move(*this);
  }
  client_options with_spin(time_limit time) && { return spin = time, std::move(*this); }
  client_options with_on_event(std::function<void(client_event const&)> call) && {
    return on_event = std::move(call), std::move(*this);
  }
};

}  // namespace coxswain
