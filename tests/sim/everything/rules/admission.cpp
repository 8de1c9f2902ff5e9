// Which waiting processes become members of the next epoch (§1.7.5), and which machines have to
// wait after losses (§1.7.10, where they are called hosts).

#include "coxswain/core/model/reasons.hpp"
#include "tests/sim/everything/rules/epoch_stories.hpp"
#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace coxswain::sim {
namespace {

constexpr std::size_t losses_allowed = 2;  // of one machine
constexpr duration first_wait = 10s;
constexpr duration wait_max = 100s;

class admission_judge {
 public:
  admission_judge(history const& h, violations& found) : h_{h}, found_{found}, epochs_{h} {}

  void check() {
    for (auto const& [number, one] : epochs_) {
      if (number > 1 && one.begins && one.members && has_all_lists_) check_epoch(number, one);
      names_.clear();
      has_all_lists_ = has_all_lists_ && one.members;
      if (!one.members) continue;
      for (auto const& member : one.members->members) names_.insert(name_of(member.self));
      former_names_.insert(names_.begin(), names_.end());
      if (one.begins) note_losses(*one.begins + 1, *one.members);
    }
  }

 private:
  struct joiner {
    std::size_t process{};
    bool is_next{};    // of a member of the last epoch
    time_point asked;  // at the earliest
  };

  void check_epoch(std::uint64_t number, epoch_story const& of) {
    std::set<incarnation> members;
    std::set<std::string> held;  // their names
    for (auto const& one : of.members->members) {
      members.insert(one.self);
      held.insert(one.name);
    }
    std::vector<joiner> const joiners = joiners_in(number, *of.members);
    time_point const begun = epochs_.begun_by(number);
    if (!joiners.empty() && is_closed(number, of)) {
      report_violation(number, "may not admit", joiners.front().process);
    }
    for (joiner const& one : joiners) {
      if (begun >= waits_of(one.process).from) continue;
      report_violation(number, "admits too early, from a machine that loses many,", one.process);
    }
    if (may_be_closed(number)) return;
    bool const has_room = members.size() < least_target(number);
    for (call_record const& c : h_.calls) {
      process_record const& p = h_.processes[c.process];
      bool const may_wait = c.asks<core::join_args>() && !p.host && !members.contains(p.self);
      if (!may_wait || held.contains(p.member)) continue;  // or it claims the holder's place
      if (!surely_waits(c, number) || waits_of(c.process).to > h_.earliest(begun)) continue;
      if (has_room) report_violation(number, "has room for", c.process);
      check_order(number, c, joiners);
    }
  }

  // The next processes of members come first, then the others in the order in which they asked.
  void check_order(std::uint64_t number, call_record const& c, std::vector<joiner> const& joiners) {
    std::string const& name = h_.processes[c.process].member;
    bool const is_next = names_.contains(name);
    // As the next process of another one it may have waited for its turn to ask.
    bool const is_of_former = former_names_.contains(name);
    for (joiner const& one : joiners) {
      bool const is_earlier = !is_of_former && c.made + h_.delay_max < one.asked;
      if (one.is_next || (!is_next && !is_earlier)) continue;
      report_violation(number, "admits process " + std::to_string(one.process) + " before",
                       c.process);
    }
  }

  void report_violation(std::uint64_t number, std::string const& what, std::size_t process) {
    found_.push_back("epoch " + std::to_string(number) + " " + what + " process " +
                     std::to_string(process));
  }

  // The failures of these members, until the next epoch begins.
  void note_losses(std::size_t event, core::epoch_members_answer const& all) {
    for (; event < h_.events.size(); ++event) {
      core::event const& what = h_.events[event].what.what;
      if (number_in(what.text, "epoch ", " begins: ")) return;
      bool const is_loss = is_failure(what.kind) && what.task &&
                           what.task->value < all.members.size() &&
                           !states(what.text, &core::reasons::left_behind);
      if (!is_loss) continue;
      incarnation const self = all.members[what.task->value].self;
      auto const lost = std::find_if(h_.processes.begin(), h_.processes.end(),
                                     [&](process_record const& p) { return p.self == self; });
      if (lost != h_.processes.end()) losses_[lost->machine].push_back(h_.events[event].at);
    }
  }

  // Until when no process of its machine is admitted, at the earliest and at the latest.
  [[nodiscard]] interval waits_of(std::size_t process) const {
    auto const at = losses_.find(h_.processes[process].machine);
    if (at == losses_.end() || at->second.size() <= losses_allowed) return {{}, {}};
    duration wait = first_wait;
    for (auto i = at->second.size() - losses_allowed; i > 1 && wait < wait_max; --i) wait *= 2;
    time_point const last = at->second.back();
    wait = std::min(wait, wait_max);
    return {h_.earliest(last) + wait, last + wait};
  }

  [[nodiscard]] std::string name_of(incarnation self) const {
    auto const at = std::find_if(h_.processes.begin(), h_.processes.end(),
                                 [&](process_record const& p) { return p.self == self; });
    return at == h_.processes.end() ? std::string{} : at->member;
  }

  [[nodiscard]] std::vector<joiner> joiners_in(std::uint64_t number,
                                               core::epoch_members_answer const& all) const {
    std::vector<joiner> found;
    for (auto const& one : all.members) {
      if (one.survivor) continue;
      for (std::size_t i = 0; i < h_.processes.size(); ++i) {
        process_record const& p = h_.processes[i];
        if (p.self == one.self && !p.host)
          found.push_back({i, names_.contains(p.member), first_asked(i, number)});
      }
    }
    return found;
  }

  // When the Join that was admitted in this epoch was made, at the earliest.
  [[nodiscard]] time_point first_asked(std::size_t process, std::uint64_t number) const {
    for (call_record const& c : h_.calls) {
      if (c.process != process || !c.asks<core::join_args>()) continue;
      auto const* const epoch = epoch_in(c);
      if (!epoch || epoch->number >= number) return c.made;
    }
    return {};
  }

  [[nodiscard]] bool admits_nobody() const { return h_.options.grow == core::growth::never; }

  [[nodiscard]] bool asks_to_shrink(call_record const& c, std::uint64_t number) const {
    auto const* const next = c.asks<core::next_epoch_args>();
    return next && next->shrink_only && h_.ends_epoch(c, number - 1);
  }

  // Nobody may be admitted.
  [[nodiscard]] bool is_closed(std::uint64_t number, epoch_story const& of) const {
    return admits_nobody() ||
           std::any_of(of.answered.begin(), of.answered.end(), [&](auto const& one) {
             return asks_to_shrink(*one.second, number) && had_arrived(*one.second, number);
           });
  }
  [[nodiscard]] bool may_be_closed(std::uint64_t number) const {
    return admits_nobody() ||
           std::any_of(h_.calls.begin(), h_.calls.end(),
                       [&](call_record const& c) { return asks_to_shrink(c, number); });
  }

  // It had reached the coordinator when the epoch began.
  [[nodiscard]] bool had_arrived(call_record const& c, std::uint64_t number) const {
    time_point const by = c.made + h_.delay_max;
    return by < h_.earliest(epochs_.begun_by(number)) && h_.is_calm(c.process, c.made, by);
  }
  // And it waited, with a connection.
  [[nodiscard]] bool surely_waits(call_record const& c, std::uint64_t number) const {
    time_point const begun = epochs_.begun_by(number);
    return c.over() > begun + h_.delay_max && had_arrived(c, number) &&
           h_.is_calm(c.process, c.made, begun);
  }

  // At most as many tasks as the epoch may have.
  [[nodiscard]] std::size_t least_target(std::uint64_t number) const {
    std::size_t least = h_.options.num_tasks;
    for (call_record const& c : h_.calls) {
      auto const* const resize = c.asks<core::resize_args>();
      if (!resize || c.made > epochs_.begun_by(number)) continue;
      least = std::min<std::size_t>(least, resize->num_tasks);
    }
    return least;
  }

  history const& h_;
  violations& found_;
  epoch_stories epochs_;
  bool has_all_lists_{true};
  std::set<std::string> names_;  // of the members of the last epoch
  std::set<std::string> former_names_;
  std::map<std::string, std::vector<time_point>> losses_;  // by machine, as seen
};

}  // namespace

void check_admission(history const& h, violations& found) {
  bool const is_known = h.has_all_events() && !h.limits_are_small;
  if (h.options.elastic && is_known) admission_judge{h, found}.check();
}

}  // namespace coxswain::sim
