#pragma once
// The end of the job on request (§1.9): a stop at once, or a drain, after which nobody joins. Not
// here: the effects of a stop (concern::stopping), nor that a drained job stops (server).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"

#include <optional>
#include <string>

namespace coxswain::core {

class end_verbs final : public concern {
 public:
  using concern::concern;

  void handle(call const& c, end_job_args& args);
  // The same for the owner, on behalf of `by`. INVALID_ARGUMENT: `how` is unknown.
  status end_job(time_point now, end_job_args const& what, std::string by);
  // Ends everything; `why` is the outcome of the open calls. A second one changes nothing.
  void stop(time_point now, std::string const& reason, status const& why);

  [[nodiscard]] bool is_draining() const noexcept { return draining_.has_value(); }
  // While the job drains: since when, by whom and for what reason.
  [[nodiscard]] time_point draining_since() const { return draining_->since; }
  [[nodiscard]] std::string const& drained_by() const { return draining_->by; }
  // And the outcome of Joins.
  [[nodiscard]] status refusal(time_point now) const;

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point, status const&) override {}
  void check_invariants() const override;

 private:
  static void fields(auto& a, auto& s) { a.members(s.draining_); }

  struct drain {
    time_point since;
    std::string by;

    static void fields(auto& a, auto& s) { a.members(s.since, s.by); }
  };

  [[nodiscard]] status unknown_end() const;
  void begin_drain(time_point now, std::string by);

  std::optional<drain> draining_;
};

}  // namespace coxswain::core
