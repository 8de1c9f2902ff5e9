#pragma once
// Gets of several keys, which wait until all have values at once. Not here: the waiting ones
// (joint_gets).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/keyspace/joint_gets.hpp"

#include <string>
#include <vector>

namespace coxswain::core {

class multi_get_verbs final : public blocking_concern, public timed_concern {
 public:
  explicit multi_get_verbs(concerns& all);

  void handle(call const& c, get_all_args& args);

  // The key that this get waits at was set. Counts the keys it checks.
  void wake(ticket who, parked const& p, std::size_t& looks);
  // Checks this many keys of woken gets.
  void check_woken(std::size_t looks);
  [[nodiscard]] bool has_woken() const noexcept { return joint_gets_.has_woken(); }
  [[nodiscard]] std::size_t count_woken() const { return joint_gets_.count_woken(); }

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override { job_failed(now, why, nullptr); }

  void cancel(ticket who, parked const& p) override;
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::string goal_text(parked const& p) const override;
  [[nodiscard]] std::string stuck_text(parked const& p) const override;
  [[nodiscard]] std::string const& listed_name(parked const& p) const override;
  [[nodiscard]] std::vector<task_id> awaited(parked const&) const override { return {}; }
  [[nodiscard]] std::size_t waiting() const override;
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) { a(1, s.joint_gets_); }

  [[nodiscard]] std::size_t missing_from(std::vector<std::string> const& keys,
                                         std::size_t begin) const;
  [[nodiscard]] answer_ptr listing(std::vector<std::string> const& keys, bool without_values) const;
  [[nodiscard]] std::string missing_text(joint_gets::get const& g) const;
  void wait_at(joint_gets::number which, std::size_t at, ticket who);
  bool look_again(joint_gets::number which, ticket who, std::size_t& looks);
  [[nodiscard]] bool is_woken(ticket who) const;
  void cancel_woken(status const& why);

  joint_gets joint_gets_;
};

}  // namespace coxswain::core
