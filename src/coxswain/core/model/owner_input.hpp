#pragma once
// The inputs of a coordinator's owner, as opposed to its peers. They take the same way as messages:
// through the recording to the core.

#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/access/credential.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace coxswain::core {

// The launcher reports that a task's process has ended: with an OK status the task has finished, as
// if it had left with a timeout of zero; else it has failed. Ignored if it has left, has failed or
// never joined.
struct process_ended {
  task_id task{};
  status why;
};

// The open round of a barrier is cancelled, as a client does with cancel_barrier_args; the failure
// names `by`. FAILED_PRECONDITION: no round of it is open, or a different one.
struct round_cancelled {
  cancel_barrier_args what;
  std::string by;
};

// From now on a Hello must present one of these tokens. Existing sessions continue.
struct credentials_replaced {
  std::vector<credential> by;
};

// An orderly stop: pending calls end (barriers ABORTED, gets CANCELLED), every connection gets a
// goodbye, new ones are refused.
struct stopped {
  std::string reason;
};

// The job ends, as when a client asks for it (end_job_args); texts name `by`.
struct job_ended {
  end_job_args what;
  std::string by;
};

// The coordinator's process is about to end and will be restarted with its state: every connection
// gets a goodbye after which its session may resume, and new ones are refused.
struct suspended {
  std::string reason;
};

// This is another process of the coordinator, which has restored its state: all connections are
// lost, and sessions have `config::restart_grace` to resume. `downtime` is how long there was none,
// for people. `term` is the new term; none: the one after the last.
struct restarted {
  duration downtime{};
  std::optional<std::uint64_t> term{};
};

// Requests that would store something, or open a round, are refused from now on, with
// RESOURCE_EXHAUSTED and `why`; if it is empty, no longer. Tasks still arrive at open rounds, leave
// and remove.
struct storing_refused {
  std::string why;
};

// why_args: the owner looks at the job, so that tasks that hold up others are asked whether they
// answer. stacks_args: their stacks are wanted. report_stack_args: the owner has been asked for the
// stack of a process that it has started (config::reports_ends), in a message to no connection.
// preempt_args: a task will be preempted, as when a client reports it. INVALID_ARGUMENT: there is
// no such task. FAILED_PRECONDITION: it has gone, or the job has failed.
using owner_input = std::variant<process_ended, preempt_args, round_cancelled, credentials_replaced,
                                 stopped, suspended, restarted, storing_refused, job_ended,
                                 why_args, stacks_args, report_stack_args>;

}  // namespace coxswain::core
