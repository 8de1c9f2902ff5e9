// A round is released only when all have arrived, with the same result for all.

#include "coxswain/core/model/reasons.hpp"
#include "tests/sim/everything/rules/arrivals.hpp"
#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

namespace coxswain::sim {
namespace {

using round_key = std::pair<std::string, round_number>;
using members = std::vector<call_record const*>;

struct heard_rounds {
  std::map<round_key, members> passed;
  std::map<round_key, members> failed;
};

heard_rounds rounds_of(history const& h) {
  heard_rounds all;
  for (call_record const& c : h.calls) {
    auto const* const args = c.asks<core::barrier_args>();
    if (!args) continue;
    if (auto const* const passed = c.gave<core::barrier_answer>()) {
      all.passed[{args->name, passed->round}].push_back(&c);
    } else if (auto const* const failed = c.gave<barrier_failure>()) {
      if (failed->round != round_number{}) all.failed[{args->name, failed->round}].push_back(&c);
    }
  }
  return all;
}

std::string name_of(round_key const& key) {
  return "round " + std::to_string(key.second.value) + " of barrier '" + key.first + "'";
}

std::vector<task_id> participants(history const& h, core::barrier_args const& args) {
  std::vector<task_id> all = args.participants;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (std::uint32_t i = 0; args.participants.empty() && i < h.options.num_tasks; ++i) {
    all.push_back(task_id{i});
  }
  return all;
}

template <class Number>
Number number_of(std::string_view bytes) {
  Number n{};
  std::memcpy(&n, bytes.data(), sizeof n);
  return n;
}

std::string reduced(core::reduction how, std::vector<std::string> const& operands) {
  std::string all = operands.front();
  for (std::size_t i = 1; i < operands.size(); ++i) {
    auto const a = number_of<std::int64_t>(all);
    auto const b = number_of<std::int64_t>(operands[i]);
    std::int64_t c = 0;
    switch (how) {
      case core::reduction::sum_int64: c = a + b; break;
      case core::reduction::min_int64: c = std::min(a, b); break;
      case core::reduction::max_int64: c = std::max(a, b); break;
      case core::reduction::bit_and: c = a & b; break;
      default: c = a | b; break;
    }
    std::memcpy(all.data(), &c, sizeof c);
  }
  return all;
}

class passed_round {
 public:
  passed_round(history const& h, round_key const& key, members const& released, violations& found)
      : h_{h}, key_{key}, released_{released}, found_{found} {}

  void check() {
    auto const& args = std::get<core::barrier_args>(released_.front()->asked);
    std::vector<task_id> const expected = participants(h_, args);
    arrivals const who{h_, released_};
    bool are_known = true;
    std::vector<std::string> data;
    for (task_id const task : expected) {
      std::vector<call_record const*> const here = who.of([&](call_record const& c) {
        auto const* const call = c.asks<core::barrier_args>();
        return call && call->name == key_.first && c.task == task;
      });
      if (here.empty())
        return report_violation("passed without task " + std::to_string(task.value));
      are_known = are_known && here.size() == 1;
      data.push_back(std::get<core::barrier_args>(here.front()->asked).data);
    }
    for (call_record const* const c : released_) {
      if (participants(h_, std::get<core::barrier_args>(c->asked)) != expected) {
        report_violation("has members with other participants");
      }
      if (c->got != released_.front()->got)
        report_violation("has different results for its members");
    }
    if (are_known) check_data(args, data);
  }

 private:
  void report_violation(std::string const& what) { found_.push_back(name_of(key_) + " " + what); }

  void check_data(core::barrier_args const& args, std::vector<std::string> const& data) {
    auto const& got = std::get<core::barrier_answer>(released_.front()->got.value).data;
    if (args.gather) {
      bool const is_right =
          std::equal(got.begin(), got.end(), data.begin(), data.end(),
                     [](bytes const& a, std::string const& b) { return a.view() == b; });
      if (!is_right) report_violation("gathered something else than was brought");
    } else if (args.reduce != core::reduction::none) {
      if (got.size() != 1 || got.front().view() != reduced(args.reduce, data)) {
        report_violation("has a wrong result");
      }
    } else if (!got.empty()) {
      report_violation("contains data that was not contributed");
    }
  }

  history const& h_;
  round_key const& key_;
  members const& released_;
  violations& found_;
};

// For the calls of one process for one task: the next round of all tasks is the one after the last
// outcome given to the task, so that a straggler gets the round that it missed.
void check_numbers(history const& h, violations& found) {
  struct place {
    std::uint64_t number{};
    bool is_known{};  // no other call between
  };
  std::map<std::pair<std::size_t, round_key>, place> last;
  for (call_record const& c : h.calls) {
    if (c.asks<core::join_args>()) {
      for (auto& [_, one] : last) one.is_known = false;
    }
    auto const* const args = c.asks<core::barrier_args>();
    if (!args || !c.task) continue;
    auto const* const passed = c.gave<core::barrier_answer>();
    auto const* const failed = c.gave<barrier_failure>();
    place& before = last[{c.process, {args->name, round_number{c.task->value}}}];
    if (!passed && !failed) {
      before.is_known = false;
      continue;
    }
    std::uint64_t const number = passed ? passed->round.value : failed->round.value;
    if (number <= before.number) found.push_back("the round's number does not rise: " + h.text(c));
    // Other guests of the task may have received it.
    bool const is_next = before.is_known && args->participants.empty() && !h.limits_are_small &&
                         !h.is_guest(c.process);
    if (is_next && number > before.number + 1) {
      found.push_back("not given the last round: " + h.text(c));
    }
    before = {number, true};
  }
}

// Whether a caller of the same round may have asked for it to fail with the first loss. Later
// callers get the failure, too. One that got no round may have been in this one.
bool minds_losses(history const& h, call_record const& of) {
  auto const* const failed = of.gave<barrier_failure>();
  return std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& c) {
    auto const* const args = c.asks<core::barrier_args>();
    if (!args || !args->fail_when_lost || args->name != of.asks<core::barrier_args>()->name) {
      return false;
    }
    if (!failed || !c.answered) return true;
    auto const* const failure = c.gave<barrier_failure>();
    return failure ? failure->round == failed->round
                   : !c.gave<core::barrier_answer>() && c.made <= *of.answered;
  });
}

}  // namespace

// A recoverable task that leaves fails no other: rounds wait for a returning task unless they fail
// on a loss, and a round with a finished participant fails with its own code.
void check_clean_exits(history const& h, violations& found) {
  for (call_record const& c : h.calls) {
    auto const* const args = c.asks<core::barrier_args>();
    if (!args || !c.answered) continue;
    auto const& outcome = c.got.outcome;
    bool const names_return = states(outcome, &core::reasons::task_returns);
    if (names_return && !minds_losses(h, c)) {
      found.push_back("does not wait for the return: " + h.text(c));
    }
    bool const names_finished = states(outcome.message(), &core::reasons::task_has_finished);
    if (names_finished && outcome.code() != errc::failed_precondition) {
      found.push_back("a finished task makes another failure: " + h.text(c));
    }
  }
}

void check_rounds(history const& h, violations& found) {
  heard_rounds const all = rounds_of(h);
  for (auto const& [key, released] : all.passed) {
    passed_round{h, key, released, found}.check();
    if (all.failed.contains(key)) {
      found.push_back(name_of(key) + " has passed for some and failed for others");
    }
  }
  for (auto const& [key, released] : all.failed) {
    for (call_record const* const c : released) {
      if (c->got.outcome == released.front()->got.outcome) continue;
      found.push_back(name_of(key) + " has failed for several reasons: " + c->got.outcome.text());
    }
  }
  check_numbers(h, found);
  check_clean_exits(h, found);
}

void check_count_barriers(history const& h, violations& found) {
  std::map<round_key, members> rounds;
  for (call_record const& c : h.calls) {
    auto const* const args = c.asks<core::count_barrier_args>();
    auto const* const passed = c.gave<core::barrier_answer>();
    if (args && passed) rounds[{args->name, passed->round}].push_back(&c);
  }
  for (auto const& [key, released] : rounds) {
    std::size_t const count = std::get<core::count_barrier_args>(released.front()->asked).count;
    auto const here = arrivals{h, released}.of([&, name = key.first](call_record const& c) {
      auto const* const call = c.asks<core::count_barrier_args>();
      return call && call->name == name && call->count == count;
    });
    if (released.size() > count) found.push_back("count " + name_of(key) + " has too many members");
    if (here.size() < count) found.push_back("count " + name_of(key) + " has too few members");
  }
}

}  // namespace coxswain::sim
