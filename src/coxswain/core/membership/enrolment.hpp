#pragma once
// Enrolment: processes that join without a number, and which number each gets (§1.6). Not
// here: what follows once a process has its number (join_verbs).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/liveness.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace coxswain::core {

class enrolment final : public waiting_concern, public timed_concern {
 public:
  explicit enrolment(concerns& all);
  ~enrolment() override;

  // A Join without a number: that of its member, or it waits for one.
  void enrol(call const& c, join_args& args);

  // A process joins as the task, or a guest of the one that did.
  void entered(task_id id, join_args const& args, bool is_guest);
  // Whether the process of the task got its number here; else it has named it.
  [[nodiscard]] bool has_enrolled(task_id id) const;
  // Answers the Join of one that has enrolled, which does not wait any more.
  void send_number(ticket who, task_id id, bool already_started);

  // A task has failed without failing the job, or was reset: its number is kept for its own next
  // process for a while, except in an elastic job.
  void vacated(time_point now, task_id id);

  // For epochs: the name of the member and its host, as known from `from` if it does not say; and
  // the same of a process that waits.
  [[nodiscard]] std::string member_of(task_id id) const;
  // The task that a process of this member holds, or was the last to hold; none if there is none.
  [[nodiscard]] std::optional<task_id> task_of(std::string const& member) const;
  [[nodiscard]] std::string host_of(task_id id, origin const& from) const;
  [[nodiscard]] std::string const& name_of(std::uint64_t number) const;
  [[nodiscard]] std::string host_of(std::uint64_t number) const;
  // Those that wait and are connected: as numbers are assigned at the start, else first the next
  // processes of members that are gone, then the others as they asked.
  [[nodiscard]] std::vector<std::uint64_t> in_order(bool at_start) const;
  // All that wait, as they asked, and for texts the name or label of one; and whether it is
  // connected.
  [[nodiscard]] std::vector<std::uint64_t> all_waiting() const;
  [[nodiscard]] std::string who(std::uint64_t number) const;
  [[nodiscard]] bool is_connected(std::uint64_t number) const;
  // The job has not begun, and numbers are given to those that wait when enough of them are there.
  [[nodiscard]] bool is_gathering() const { return !waiting_.empty() && is_before_start(); }
  // When the last call ends, if it is open.
  [[nodiscard]] std::optional<time_point> begins_at() const;
  // Of one that waits, which may resume.
  [[nodiscard]] bool has_lost_connection() const;
  // One that waits becomes the task.
  void give(time_point now, std::uint64_t number, task_id id);
  // Ends all waiting calls: nobody gets a number any more.
  void refuse_all(status const& why);
  // An epoch begins: each task in `moved` has its new number, and all others are gone.
  void renumber(std::map<task_id, task_id> const& moved);

  // A session has resumed.
  void look_again() noexcept { look_again_ = true; }
  // After each input: gives numbers, or ends all waiting Joins when the job is over.
  void follow_up(time_point now);
  void time_due(time_point now);

  // All tasks have gone, and none comes.
  [[nodiscard]] bool job_is_over() const;

  void show(time_point now, snapshot& in) const;

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override;
  void check_invariants() const override;
  [[nodiscard]] std::size_t armed() const override { return alarm_.armed() ? 1 : 0; }

  void cancel(ticket who, parked const& p) override;
  void put_back(std::vector<undelivered> numbers) override;
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::size_t waiting() const override { return waiting_.size(); }
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) {
    a.members(s.alarm_, s.waiting_, s.last_, s.members_, s.coming_back_, s.full_since_,
              s.has_begun_, s.seen_);
  }

  // A process that waits.
  struct applicant {
    ticket who;
    join_args asked;
    time_point since;

    static void fields(auto& a, auto& s) { a.members(s.who, s.asked, s.since); }
  };
  // The process that holds a number, or was the last one to hold it.
  struct member {
    std::string name;  // empty: it has none
    std::vector<std::string> placement;
    bool enrolled{};  // else it has named its number

    static void fields(auto& a, auto& s) { a.members(s.name, s.placement, s.enrolled); }
  };
  using by_arrival = std::map<std::uint64_t, applicant>;
  using by_name = std::map<std::string, std::uint64_t>;
  using numbers = std::vector<std::uint64_t>;

  void add(std::uint64_t number, applicant waiting);
  void forget(by_arrival::iterator at);
  [[nodiscard]] status admissible(call const& c, join_args const& args) const;
  void replace_older(join_args const& by, std::string const& label);
  void forget_member(task_id id);
  [[nodiscard]] bool is_before_start() const;
  [[nodiscard]] std::uint32_t vacant() const;
  [[nodiscard]] bool fills_numbers() const;
  // Those with a connection, oldest first.
  [[nodiscard]] numbers connected() const;
  void sort(numbers& all) const;
  void start(time_point now);
  void promote(time_point now);
  [[nodiscard]] std::uint64_t best_for(task_id id, numbers const& among) const;
  void end_all(answer_ptr const& what);
  void arm();
  [[nodiscard]] std::string waiting_text() const;
  [[nodiscard]] static std::size_t cost(join_args const& asked);
  [[nodiscard]] static std::size_t cost(member const& known);

  by_arrival waiting_;
  by_name names_;  // of these, as far as they have one
  std::uint64_t last_{};
  std::map<task_id, member> members_;
  std::map<std::string, task_id> numbers_;   // the same, by name
  std::map<task_id, liveness> coming_back_;  // since when; others are not given these numbers
  std::optional<liveness> full_since_;       // the last call
  bool has_begun_{};                         // numbers were given at the start
  alarm alarm_;
  std::uint64_t seen_{};            // the roster's version at the last look
  std::set<task_id> not_received_;  // numbers that were taken back during this input
  bool look_again_{};               // during this input
};

}  // namespace coxswain::core
