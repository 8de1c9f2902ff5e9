#pragma once
// PUBLIC. What the calls of a client give and its options speak of, under the names of this API.
// Not here: the results of calls for keys (keys), of jobs that failed (base/error.hpp).

#include "coxswain/base/ids.hpp"
#include "coxswain/core/access/role.hpp"
#include "coxswain/core/model/event.hpp"
#include "coxswain/core/model/results.hpp"
#include "coxswain/core/model/topology.hpp"

#include <compare>

namespace coxswain {

// A task in one of its incarnations.
struct process {
  task_id task{};
  coxswain::incarnation incarnation{};

  friend auto operator<=>(process const&, process const&) = default;
};

// The permissions of a session.
using core::role;

// While a barrier waits: see barrier_options.
using core::barrier_progress;

// client::inspect: a picture of the job at one moment, and what it consists of.
using job_status = core::snapshot;
using core::job_state;
using task_status = core::snapshot::task;
using barrier_status = core::snapshot::barrier;
using finished_round = core::snapshot::finished_round;
using straggler = core::snapshot::straggler;
using core::task_progress;

// client::watch_tasks: all tasks at one version.
using tasks_result = core::tasks_answer;

// client::watch_events: some events, each as the coordinator has logged it.
using events_result = core::events_answer;
using logged_event = core::events_answer::entry;
using core::event;
using core::event_kind;
using core::severity;

// client::why: every waiting call, grouped by what it waits for.
using why_result = core::why_answer;
using wait_status = core::why_answer::wait;

// client::next_epoch, client::epoch_members, client::epoch_wanted.
using epoch = core::epoch_answer;
using epoch_members = core::epoch_members_answer;
using epoch_end = core::epoch_ends;

// client::exchange_topology: what one task brings, and what all receive.
using core::device;
using core::device_attribute;
using core::global_topology;
using core::local_topology;

}  // namespace coxswain
