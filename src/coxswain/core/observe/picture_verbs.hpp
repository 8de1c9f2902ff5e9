#pragma once
// Snapshots of the whole job.

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/observe/kept_answer.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <cstdint>
#include <string>

namespace coxswain::core {

class picture_verbs final : public concern {
 public:
  using concern::concern;

  void handle(call const& c, inspect_args& args);
  [[nodiscard]] snapshot look(time_point now) const;

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point, status const&) override {}

 private:
  static void fields(auto& a, auto& s) { a(1, s.first_page_); }

  // All but the tasks, and those.
  [[nodiscard]] snapshot picture_of_job(time_point now, std::uint64_t& steps) const;
  void add_open_barriers(time_point now, snapshot& to) const;
  void show_tasks(time_point now, snapshot& to, std::uint32_t first, std::size_t most) const;
  [[nodiscard]] snapshot::barrier picture(time_point now, snapshot::kind kind, std::string name,
                                          meeting const& m) const;

  kept_answer first_page_;
};

}  // namespace coxswain::core
