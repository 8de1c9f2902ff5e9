#pragma once
// A concern: the rules of one part of the service (barriers, keys, leaving ...) and the state that
// only they change. The coordinator asks all concerns, in the order in which `concerns` lists them,
// about what may concern any of them; so what follows from a failure or a stop is in that order.

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
  // did not leave in time, if that is why.
  virtual void job_failed(time_point now, status const& why, barrier_failure const* missing) = 0;

  // The coordinator stops: ends all requests here.
  virtual void stopping(time_point now, status const& why) = 0;

  // A session has ended, its requests before, and its tasks have failed by that.
  virtual void session_ended(time_point, session_id, status const& /*why*/) {}

  // Ends the program if something does not hold that always must.
  virtual void check_invariants() const {}

  // How many deadlines are armed here, beside those of waiting requests.
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
  // What its task is blocked on; none: the task may go on.
  std::optional<blocking_calls::wait> blocks_for;
  // Who waits: the task that its session acts for, a task that joins, or the session itself.
  enum class party : std::uint8_t { task, joining_task, session } of{party::task};
  // Its reply is kept until the client acknowledges it, because the request changes something.
  bool reply_is_kept{true};
  // It ends with its task; no other task depends on it.
  bool ends_with_task{};
  // `why` lists each call, and those for the same thing together; none: it lists what they are in,
  // such as a round.
  std::optional<why_answer::kind> listed_as{};
};

// A concern in which requests wait.
class waiting_concern : public concern {
 public:
  waiting_concern(concerns& all, wait_traits traits);

  [[nodiscard]] wait_traits const& traits() const noexcept { return traits_; }
  // `parked::at` of the requests that wait here.
  [[nodiscard]] concern_index index() const noexcept { return index_; }

  // The request waits no longer; it is parked no more.
  virtual void cancel(ticket who, parked const& p) = 0;

  // What it handed over, which nobody received, is its again.
  virtual void put_back(std::vector<undelivered> what);

  // Why it is not answered yet, for the client that asks: "key 'a' has no value".
  [[nodiscard]] virtual std::string missing_text(time_point now, ticket who, parked const& p) = 0;

  // Who waits here for which tasks, as far as the budget goes.
  virtual void add_to(wait_graph&, picture_budget&) const {}

  // How many requests wait here.
  [[nodiscard]] virtual std::size_t waiting() const = 0;

  // Ends the program if the concern does not know of this request.
  virtual void check(ticket who, parked const& p) const = 0;

 private:
  wait_traits traits_;
  concern_index index_;
};

// A concern in which requests have deadlines of their own.
class timed_concern {
 public:
  // The answer to a request whose deadline has come.
  [[nodiscard]] virtual answer_ptr overdue(time_point now, parked const& p) = 0;

 protected:
  ~timed_concern() = default;
};

// A concern in which tasks wait that can do nothing else meanwhile (wait_traits::blocks_for).
class blocking_concern : public waiting_concern {
 public:
  using waiting_concern::waiting_concern;

  // What the task waits for, for errors that name it: "barrier 'a'".
  [[nodiscard]] virtual std::string goal_text(parked const& p) const = 0;

  // Where it is stuck: "at barrier 'a'".
  [[nodiscard]] virtual std::string stuck_text(parked const& p) const = 0;

  // The tasks for which it waits; none if anybody may answer it.
  [[nodiscard]] virtual std::vector<task_id> awaited(parked const& p) const = 0;

  // For `wait_traits::listed_as`: the name of what it waits for, and what else is to be said.
  [[nodiscard]] virtual std::string const& listed_name(parked const& p) const {
    return p.name.get();
  }
  virtual void describe(parked const&, why_answer::wait&) const {}
};

}  // namespace coxswain::core
