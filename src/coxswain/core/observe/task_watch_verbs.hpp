#pragma once
// Watching the tasks, as a request that waits for something newer (§12.1).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/observe/watchers.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace coxswain::core {

class task_watch_verbs final : public waiting_concern, public timed_concern {
 public:
  explicit task_watch_verbs(concerns& all);

  void handle(call const& c, watch_tasks_args& args);
  // Tasks have changed since this was called last.
  bool follow_up();
  void answer_all();

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point now, status const& why) override;

  void cancel(ticket who, parked const& p) override;
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point, ticket, parked const&) override {
    return "nothing has changed";
  }
  [[nodiscard]] std::size_t waiting() const override;
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) { a.members(s.watchers_, s.answered_); }

  [[nodiscard]] answer_ptr tasks_now();

  watchers watchers_;
  std::uint64_t answered_{};
  answer_ptr shown_;  // as they were shown last, while that is on its way
};

}  // namespace coxswain::core
