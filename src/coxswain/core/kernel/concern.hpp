#pragma once
// A concern: the rules of one part of the service (barriers, keys, leaving ...) and the state that
// only they change. The coordinator notifies all concerns, in the order in which `concerns` lists
// them; so the effects of a failure or a stop come in that order.

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/error.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/kernel/blocking_calls.hpp"
#include "coxswain/core/kernel/deadlines.hpp"
#include "coxswain/core/kernel/open_requests.hpp"
#include "coxswain/core/kernel/ticket.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/observe/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::core {

class calls;
class kernel;
class roster;
class picture_budget;
class sessions;
class state_reader;
class state_writer;
class wait_graph;
struct config;
struct concerns;
struct undelivered;

class concern {
 public:
  explicit concern(concerns& all);
  concern(concern const&) = delete;
  concern& operator=(concern const&) = delete;
  virtual ~concern() = default;

  // The job has failed: ends all requests here that wait for other tasks. `missing`: the tasks that
  // did not leave in time, if that is the cause.
  virtual void job_failed(time_point now, status const& why, barrier_failure const* missing) = 0;

  // The coordinator stops: ends all requests here.
  virtual void stopping(time_point now, status const& why) = 0;

  // A session has ended; its requests have ended and its tasks have failed before.
  virtual void session_ended(time_point, session_id, status const& /*why*/) {}

  // Writes its complete state for a snapshot, and restores it in a concern without state. The state
  // of the kernel has been restored before.
  virtual void save(state_writer& to) const = 0;
  virtual void load(state_reader& from) = 0;

  // Aborts if an invariant is broken.
  virtual void check_invariants() const {}

  // How many deadlines are armed here, not counting those of waiting requests.
  [[nodiscard]] virtual std::size_t armed() const { return 0; }

 protected:
  concerns& concerns_;
  calls& calls_;
  kernel& kernel_;
  // Of the kernel.
  config& options_;
  memory_meter& memory_;
  deadlines& deadlines_;
  sessions& sessions_;
  roster& roster_;
  std::optional<job_error> const& error_;
};

// Properties that all requests waiting in one concern share.
struct wait_traits {
  operation request;
  // The wait that blocks its task; none: the task can continue.
  std::optional<blocking_calls::wait> blocks_for;
  // The waiting party: the task that its session acts for, a joining task, or the session itself.
  enum class party : std::uint8_t { task, joining_task, session } of{party::task};
  // Its reply is kept until the client acknowledges it, because the request changes state.
  bool reply_is_kept{true};
  // It ends with its task; no other task depends on it.
  bool ends_with_task{};
  // `why` lists each call, grouped by what they wait for; none: it lists what they are part of,
  // such as a round.
  std::optional<why_answer::kind> listed_as{};
};

// A concern in which requests wait.
class waiting_concern : public concern {
 public:
  waiting_concern(concerns& all, wait_traits traits);

  [[nodiscard]] wait_traits const& traits() const noexcept { return traits_; }
  // The request that waits there, for statistics.
  [[nodiscard]] virtual operation request_of(parked const&) const { return traits_.request; }
  // `parked::at` of the requests that wait here.
  [[nodiscard]] concern_index index() const noexcept { return index_; }

  // The request no longer waits; it has been unparked.
  virtual void cancel(ticket who, parked const& p) = 0;

  // Takes back an item that it handed over and that was not received.
  virtual void put_back(std::vector<undelivered> what);

  // Why it is not answered yet, for the client that asks: "key 'a' has no value".
  [[nodiscard]] virtual std::string missing_text(time_point now, ticket who, parked const& p) = 0;

  // Adds which tasks wait here for which others, within the budget.
  virtual void add_to(wait_graph&, picture_budget&) const {}

  // How many requests wait here.
  [[nodiscard]] virtual std::size_t waiting() const = 0;

  // Aborts if the concern does not know this request.
  virtual void check(ticket who, parked const& p) const = 0;

 private:
  wait_traits traits_;
  concern_index index_;
};

// A concern in which requests have deadlines of their own.
class timed_concern {
 public:
  // The reply to a request whose deadline has expired.
  [[nodiscard]] virtual answer_ptr overdue(time_point now, parked const& p) = 0;

 protected:
  ~timed_concern() = default;
};

// A concern whose waiting requests block their tasks (wait_traits::blocks_for).
class blocking_concern : public waiting_concern {
 public:
  using waiting_concern::waiting_concern;

  // What the task waits for, for errors that name it: "barrier 'a'".
  [[nodiscard]] virtual std::string goal_text(parked const& p) const = 0;

  // What it is blocked on: "at barrier 'a'".
  [[nodiscard]] virtual std::string stuck_text(parked const& p) const = 0;

  // The tasks for which it waits; none if any client can complete it.
  [[nodiscard]] virtual std::vector<task_id> awaited(parked const& p) const = 0;

  // For `wait_traits::listed_as`: the name of what it waits for, and further details.
  [[nodiscard]] virtual std::string const& listed_name(parked const& p) const {
    return p.name.get();
  }
  virtual void describe(parked const&, why_answer::wait&) const {}
};

}  // namespace coxswain::core
