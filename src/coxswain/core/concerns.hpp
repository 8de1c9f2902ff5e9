#pragma once
// All concerns of a coordinator, and what they share.

#include "coxswain/core/access/request_router.hpp"
#include "coxswain/core/kernel/calls.hpp"
#include "coxswain/core/kernel/kernel.hpp"
#include "coxswain/core/keyspace/key_verbs.hpp"
#include "coxswain/core/keyspace/key_watch_verbs.hpp"
#include "coxswain/core/keyspace/locks.hpp"
#include "coxswain/core/keyspace/multi_get_verbs.hpp"
#include "coxswain/core/keyspace/queue_verbs.hpp"
#include "coxswain/core/membership/connection_verbs.hpp"
#include "coxswain/core/membership/end_verbs.hpp"
#include "coxswain/core/membership/enrolment.hpp"
#include "coxswain/core/membership/epochs.hpp"
#include "coxswain/core/membership/failure_verbs.hpp"
#include "coxswain/core/membership/guest_verbs.hpp"
#include "coxswain/core/membership/handshake_verbs.hpp"
#include "coxswain/core/membership/join_verbs.hpp"
#include "coxswain/core/membership/leave_verbs.hpp"
#include "coxswain/core/membership/preemption_verbs.hpp"
#include "coxswain/core/membership/progress_verbs.hpp"
#include "coxswain/core/membership/restart_verbs.hpp"
#include "coxswain/core/observe/event_watch_verbs.hpp"
#include "coxswain/core/observe/picture_verbs.hpp"
#include "coxswain/core/observe/stack_verbs.hpp"
#include "coxswain/core/observe/task_watch_verbs.hpp"
#include "coxswain/core/observe/why_verbs.hpp"
#include "coxswain/core/rendezvous/alive_verbs.hpp"
#include "coxswain/core/rendezvous/barrier_verbs.hpp"
#include "coxswain/core/rendezvous/count_barrier_verbs.hpp"
#include "coxswain/core/rendezvous/missing_tasks.hpp"
#include "coxswain/core/rendezvous/topology_verbs.hpp"

#include <vector>

namespace coxswain::core {

struct concerns {
  concerns(config options, incarnation self, time_point now)
      : kernel{std::move(options), self, now} {
    with_all([this](auto&... concern) { all = {&concern...}; });
  }

  core::kernel kernel;
  core::calls calls{*this};
  missing_tasks missing{*this};
  request_router router{*this};

  barrier_verbs barriers{*this};
  alive_verbs alive{*this};
  leave_verbs leaves{*this};
  preemption_verbs preemptions{*this};
  guest_verbs guests{*this};
  topology_verbs topologies{*this};
  join_verbs joins{*this};
  count_barrier_verbs count_barriers{*this};
  multi_get_verbs multi_gets{*this};
  key_verbs keys{*this};
  queue_verbs queues{*this};
  core::locks locks{*this};
  key_watch_verbs key_watches{*this};
  task_watch_verbs task_watches{*this};
  event_watch_verbs event_watches{*this};
  progress_verbs progress{*this};
  failure_verbs failures{*this};
  picture_verbs pictures{*this};
  why_verbs why{*this};
  stack_verbs stacks{*this};
  restart_verbs restarts{*this};
  handshake_verbs handshakes{*this};
  core::enrolment enrolment{*this};
  core::epochs epochs{*this};
  connection_verbs connections{*this};
  end_verbs ends{*this};

  // All concerns, in the order in which they are notified of a failure of the job and of a stop.
  template <class Use>
  void with_all(Use use) {
    use(barriers, alive, leaves, preemptions, guests, topologies, joins, count_barriers, multi_gets,
        keys, queues, locks, key_watches, task_watches, event_watches, progress, failures, pictures,
        why, restarts, handshakes, enrolment, epochs, connections, ends, stacks);
  }
  std::vector<concern*> all;
};

}  // namespace coxswain::core
