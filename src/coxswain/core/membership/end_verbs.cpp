#include "coxswain/core/membership/end_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <cstddef>
#include <utility>

namespace coxswain::core {
namespace {

constexpr std::size_t reason_bytes_max = 1024;

// "root@b12: maintenance"
std::string with_reason(std::string by, std::string const& reason) {
  return reason.empty() ? by : by + ": " + shortened(reason, reason_bytes_max);
}

}  // namespace

status end_verbs::unknown_end() const {
  return fail_as<&reasons::unknown_kind>(errc::invalid_argument, options_.version,
                                         "end of the job");
}

// A stop ends the session of its caller, so that is answered before.
void end_verbs::handle(call const& c, end_job_args& args) {
  if (args.how == job_end::unknown) return calls_.refuse(c, unknown_end());
  time_point const now = c.now;
  std::string by = kernel_.requester(c.by, c.task);
  calls_.answer_now(c, calls_.share(status{}), true);
  static_cast<void>(end_job(now, args, std::move(by)));
}

status end_verbs::end_job(time_point now, end_job_args const& what, std::string by) {
  std::string whom = with_reason(std::move(by), what.reason);
  switch (what.how) {
    case job_end::unknown: return unknown_end();
    case job_end::drain: begin_drain(now, std::move(whom)); break;
    case job_end::stop: {
      std::string const how = "by " + whom;
      stop(now, how, fail<&reasons::job_was_stopped>(how));
      break;
    }
  }
  return {};
}

void end_verbs::stop(time_point now, std::string const& reason, status const& why) {
  kernel_.observe(now);
  if (std::exchange(kernel_.stopping, true)) return;
  kernel_.log(severity::info, event_kind::stopping, "stopping: " + reason);
  for (concern* const each : concerns_.all) each->stopping(now, why);
}

status end_verbs::refusal(time_point now) const {
  return fail<&reasons::job_is_draining>(kernel_.moment(now, draining_->since), draining_->by);
}

// Those that wait to join never will, so nobody waits for them, nor for tasks that may have joined
// again.
void end_verbs::begin_drain(time_point now, std::string by) {
  kernel_.observe(now);
  if (kernel_.stopping || draining_) return;
  kernel_.log(severity::warning, event_kind::draining,
              "draining, by " + by +
                  ": nobody may join any more, and the job ends when all tasks "
                  "have left");
  draining_ = drain{now, std::move(by)};
  status const why = refusal(now);
  concerns_.enrolment.refuse_all(why);
  concerns_.joins.refuse_all(why);
  concerns_.leaves.end_returns();
  if (!options_.elastic) {
    concerns_.barriers.fail_unreachable_rounds(now);
    concerns_.topologies.fail_unreachable_exchanges();
  }
  concerns_.leaves.release_if_complete(now);
  concerns_.epochs.look_again();
  concerns_.why.plan_review();
}

void end_verbs::check_invariants() const {
  if (!draining_) return;
  invariant(roster_.count(task_state::joining) == 0 && concerns_.enrolment.waiting() == 0 &&
                concerns_.joins.waiting() == 0,
            "nobody waits to join while the job drains");
  invariant(roster_.count(task_state::returning) == 0, "no task returns while the job drains");
}

}  // namespace coxswain::core
