#pragma once
// The tasks that others wait for, and what is known about them: for errors, logs, and clients that
// ask what they wait for.

#include "coxswain/base/error.hpp"
#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/roster.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"
#include "coxswain/core/rendezvous/waiting_texts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::core {

class missing_tasks {
 public:
  explicit missing_tasks(concerns& all) : concerns_{all} {}
  missing_tasks(missing_tasks const&) = delete;
  missing_tasks& operator=(missing_tasks const&) = delete;

  // The tasks that the meeting waits for.
  [[nodiscard]] std::vector<task_id> from(meeting const& m) const;

  [[nodiscard]] barrier_failure describe(time_point now, meeting const& m,
                                         round_number number) const;
  [[nodiscard]] barrier_failure describe(time_point now, std::vector<task_id> missing,
                                         std::uint32_t expected, bool in_brief = false) const;
  // The same, for one of many meetings that end at this input: those that lack the same tasks share
  // a description. Charges steps.
  [[nodiscard]] barrier_failure describe_shared(time_point now, meeting const& m,
                                                round_number number);
  [[nodiscard]] barrier_failure describe_shared(time_point now, std::vector<task_id> missing,
                                                std::uint32_t expected);
  // The input has ended.
  void forget_shared() { shared_.reset(); }
  // "2 of 512 tasks are missing: 17 (...), 80 (never connected)"
  [[nodiscard]] std::string text(time_point now, barrier_failure const& f) const;
  [[nodiscard]] std::string timed_out(time_point now, meeting const& m, std::string const& what,
                                      barrier_failure const& f) const;

  // The text for the calls that wait there, cached for a moment. `find` returns the missing tasks;
  // `expected` is the number of all.
  [[nodiscard]] std::string brief(time_point now, parked const& p, meeting const& m);
  template <class Find>
  [[nodiscard]] std::string brief(time_point now, parked const& p, std::uint32_t expected,
                                  Find find) {
    waiting_texts::place place{p.at, p.number, p.name.get()};
    auto const make = [&] {
      count_looks();
      return text(now, describe(now, find(), expected, true));
    };
    return texts_.at(now, std::move(place), make);
  }

  // A task that holds up others without waiting itself, and the longest time that others have
  // waited for it.
  struct late_task {
    task_id task;
    duration waited{};
  };
  // Those for which others have waited for so long at least, in their order.
  [[nodiscard]] std::vector<late_task> late(time_point now, duration at_least,
                                            std::uint64_t& steps) const;

  // The job is looked at: some of these are asked whether they answer, unless they have answered
  // just now. Whether there is one to ask.
  void ask(time_point now);
  [[nodiscard]] bool has_to_ask(time_point now) const;

  // Adds whether its processes answer, and its last call.
  void add_view(time_point now, missing_task& to) const;
  // Such tasks as `late` has, for those who look at the job.
  [[nodiscard]] std::vector<missing_task> view(time_point now, std::uint64_t& steps) const;

  // A client asks what one of its requests waits for.
  void handle(time_point now, session& to, ticket asked);

  static void fields(auto& a, auto& s) { a(1, s.texts_); }

 private:
  struct description {
    time_point at;
    std::vector<task_id> missing;
    std::uint64_t version{};  // of the roster
    barrier_failure made;
  };

  void count_looks();
  [[nodiscard]] std::vector<session_id> sessions_to_ask(time_point now, std::uint64_t& steps) const;
  [[nodiscard]] std::vector<session_id> sessions_of(task const& t) const;
  [[nodiscard]] time_point last_answer(session const& s) const;
  [[nodiscard]] missing_task describe_one(time_point now, task_id id) const;
  [[nodiscard]] std::string waits_for(task_id id) const;

  concerns& concerns_;
  waiting_texts texts_;
  std::optional<description> shared_;  // the last one, during one input
};

}  // namespace coxswain::core
