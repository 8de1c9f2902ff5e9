#pragma once
// Epochs: the numbered memberships of an elastic job, and how one follows the other (
// §1.7). Not here: processes that ask to join (enrolment).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/liveness.hpp"
#include "coxswain/core/membership/host_backoff.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace coxswain::core {

struct session;

class epochs final : public blocking_concern, public timed_concern {
 public:
  explicit epochs(concerns& all);

  void handle(call const& c, next_epoch_args& args);
  void handle(call const& c, epoch_members_args& args);
  void handle(call const& c, resize_args& args);

  // ABORTED: the caller was given another epoch than the present one.
  [[nodiscard]] status checked(client_message const& message) const;
  // The task for which the request acts in its epoch, if it may.
  [[nodiscard]] result<std::optional<task_id>> acting(client_message const& message,
                                                      session const& by,
                                                      std::optional<task_id> as) const;

  // The present epoch, from the view of this task.
  [[nodiscard]] epoch_answer answer_for(task_id id) const;

  // The epoch is over, and that is what the failure of a member repeats.
  [[nodiscard]] bool is_cause_of(status const& why) const;

  // Members have gone; `why` is none if it left.
  void failed(time_point now, task_id id, status const& why);
  void left(task_id id);
  // A member will be preempted.
  void preempted(task_id id);
  // The session has resumed.
  void send_ending(session& s) const;

  // After each input: ends the epoch, or begins the next one.
  void follow_up(time_point now);
  void look_again() noexcept { look_again_ = true; }
  void time_due(time_point now);

  void show(time_point now, snapshot& in) const;
  // Why there is no epoch: none has begun, or the last one is over.
  struct pause {
    std::uint64_t last{};  // zero: none has begun
    std::string text;      // what its end was, and what the next one waits for
    std::optional<time_point> since;
    std::optional<time_point> begins_at;  // the end of the last call, if it is open
    std::vector<task_id> missing;
  };
  [[nodiscard]] std::optional<pause> present_pause(time_point now) const;

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override { job_failed(now, why, nullptr); }
  void check_invariants() const override;
  [[nodiscard]] std::size_t armed() const override { return alarm_.armed() ? 1 : 0; }

  void cancel(ticket who, parked const& p) override;
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::string goal_text(parked const& p) const override;
  [[nodiscard]] std::string stuck_text(parked const& p) const override;
  [[nodiscard]] std::vector<task_id> awaited(parked const& p) const override;
  void add_to(wait_graph& g, picture_budget& budget) const override;
  [[nodiscard]] std::size_t waiting() const override { return ready_.size(); }
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) {
    a.members(s.number_, s.target_, s.why_, s.ending_, s.is_over_, s.ready_, s.began_, s.called_,
              s.full_, s.short_, s.losses_, s.losses_left_out_, s.lost_, s.joiners_, s.preempted_,
              s.backoff_, s.alarm_, s.seen_, s.look_again_);
  }

  // A member that has called next_epoch.
  struct readiness {
    ticket who;
    bool shrink_only{};

    static void fields(auto& a, auto& s) { a.members(s.who, s.shrink_only); }
  };
  // Of a process that waits to join, in the enrolment.
  using applicants = std::vector<std::uint64_t>;

  // The next epoch: task i was `was[i]`, or is `applicant[i]`.
  struct plan {
    std::vector<std::optional<task_id>> was;
    std::vector<std::uint64_t> applicant;
    std::vector<task_id> leaving;
    std::uint32_t joined{};
  };

  [[nodiscard]] std::string target_text() const;
  [[nodiscard]] status over() const;
  [[nodiscard]] status no_member() const;
  void end_over(epoch_ends::cause why, std::string text);
  void wish(epoch_ends::cause why, std::string text);
  void push_ending() const;
  [[nodiscard]] answer_ptr ending() const;
  void end_calls();
  void end_calls_that_need(time_point now, task_id id);
  [[nodiscard]] status waits_for_epoch(task_id id) const;
  void take_departures();
  void notice_wishes(time_point now);
  void leave_behind(time_point now);
  [[nodiscard]] bool have_all_called() const;
  [[nodiscard]] bool is_settled() const;
  [[nodiscard]] applicants admissible(time_point now) const;
  [[nodiscard]] bool is_anybody_on_the_way() const;
  void form(time_point now);
  void fail_short(time_point now);
  [[nodiscard]] plan planned(applicants joining) const;
  void place_by_rank(plan& next, std::vector<task_id> const& staying,
                     applicants const& joining) const;
  void place_by_name(plan& next, std::vector<task_id> const& staying,
                     applicants const& joining) const;
  void begin(time_point now, applicants joining);
  void dismiss(time_point now, plan const& next, std::map<task_id, readiness> const& ready);
  void rearrange(time_point now, plan const& next);
  void arm(time_point now);
  [[nodiscard]] std::string host_of(task_id id) const;
  [[nodiscard]] std::vector<task_id> unready() const;
  [[nodiscard]] std::string waiting_text(time_point now) const;
  [[nodiscard]] std::string applicants_text(time_point now) const;
  [[nodiscard]] std::string why_not_yet(time_point now, std::uint64_t applicant) const;

  std::uint64_t number_{};  // zero: none has begun
  std::uint32_t target_;    // the most tasks
  epoch_ends::cause why_{};
  std::string ending_;  // why the epoch is to end; empty: it is not
  bool is_over_{};      // the calls of its members have ended
  std::map<task_id, readiness> ready_;
  time_point began_{};
  std::optional<liveness> called_;   // since when somebody waits for the next epoch
  std::optional<liveness> full_;     // since when all members wait: the last call
  std::optional<liveness> short_;    // since when they are too few
  std::vector<std::string> losses_;  // in this epoch, in order
  std::uint32_t losses_left_out_{};
  std::uint32_t lost_{};  // of the epoch before
  std::set<task_id> joiners_;
  std::set<task_id> preempted_;
  host_backoff backoff_;
  alarm alarm_;
  std::uint64_t seen_{};               // the roster's version at the last look
  bool look_again_{};                  // something has changed since then
  bool leaves_behind_{};               // during this input
  std::vector<std::string> departed_;  // likewise
};

}  // namespace coxswain::core
