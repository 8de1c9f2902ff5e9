// The epochs of an elastic job follow each other as promised, and only their members act (§1.7).

#include "coxswain/core/model/reasons.hpp"
#include "tests/sim/everything/rules/arrivals.hpp"
#include "tests/sim/everything/rules/epoch_stories.hpp"
#include "tests/sim/everything/rules/key_story.hpp"
#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace coxswain::sim {
namespace {

using text = std::string const&;

constexpr duration margin = 200ms;       // of stalls that are too short to be credited
constexpr duration calm_before = 100ms;  // in which requests and acknowledgements are on their way

class epoch_judge {
 public:
  epoch_judge(history const& h, violations& found) : h_{h}, found_{found}, epochs_{h} {}

  void check() {
    check_events();
    for (call_record const& c : h_.calls) {
      if (auto const* const answer = epoch_in(c)) check_answer(c, *answer);
      if (auto const* const all = c.gave<core::epoch_members_answer>()) check_list(c, *all);
    }
    for (auto const& [number, one] : epochs_) {
      check_size(number, one);
      check_members(number, one);
      auto const next = epochs_.find(number + 1);
      if (next == epochs_.end()) continue;
      check_numbers(number, one, next->second);
      if (!h_.has_all_events()) continue;
      check_readiness(number, one, next->second);
      if (h_.restarts.empty()) check_waiting_time(number, one, next->second);
    }
    check_rounds();
    for (call_record const& c : h_.calls) {
      if (c.epoch == 0 || !c.answered) continue;
      if (h_.keys_are_whole) check_fence(c);
      check_abortion(c);
    }
    if (h_.keys_are_whole) check_keys();
    check_failure();
  }

 private:
  void report_violation(text what, call_record const& c) {
    found_.push_back(what + ": " + h_.text(c));
  }
  void report_violation(text what, std::uint64_t number) {
    found_.push_back("epoch " + std::to_string(number) + " " + what);
  }
  [[nodiscard]] time_point seen(std::optional<std::size_t> event) const {
    return event ? h_.events[*event].at : time_point::max();
  }

  void check_events() {
    std::uint64_t last = 0;
    for (event_record const& e : h_.events) {
      text line = e.what.what.text;
      if (auto const number = number_in(line, "epoch ", " begins: ")) {
        if (*number != last + 1 && h_.has_all_events()) {
          report_violation("follows epoch " + std::to_string(last), *number);
        }
        last = *number;
      } else if (auto const over = number_in(line, "epoch ", " is over: ")) {
        bool const is_growth = line.find("is over: processes joining") != line.npos;
        if (is_growth && h_.options.grow != core::growth::now) {
          report_violation("does not wait for its members", *over);
        }
      }
      check_left_behind(last, e);
    }
  }

  void check_left_behind(std::uint64_t present, event_record const& e) {
    if (!states(e.what.what.text, &core::reasons::left_behind) || !is_failure(e.what.what.kind)) {
      return;
    }
    bool const is_due =
        h_.options.epoch_timeout > 0s &&
        std::any_of(h_.calls.begin(), h_.calls.end(), [&](call_record const& c) {
          return h_.ends_epoch(c, present) && c.made + h_.options.epoch_timeout <= e.at;
        });
    if (!is_due) report_violation("leaves a member behind too early", present);
  }

  // A number has one holder, all get the same, and the numbers of epochs rise.
  void check_answer(call_record const& c, core::epoch_answer const& answer) {
    epoch_story const& of = epochs_.at(answer.number);
    if (answer.rank.value >= answer.size) report_violation("there is no such task", c);
    if (!epochs_.may_have_begun(answer.number, *c.answered))
      report_violation("it has not begun", c);
    call_record const* const holder = of.answered.at(answer.rank);
    core::epoch_answer first = *epoch_in(*of.answered.begin()->second);
    first.rank = answer.rank;
    first.address = answer.address;  // task 0 may have resumed at another one, as of a relay
    if (first != answer) report_violation("got another epoch than others", c);
    bool const is_same = h_.processes[holder->process].self == h_.processes[c.process].self;
    if (!is_same) report_violation("a second holder", c);
    std::uint64_t& last = last_[c.process];
    bool const may_repeat = c.asks<core::join_args>() != nullptr;
    if (answer.number < last + (may_repeat ? 0 : 1)) report_violation("the epoch does not rise", c);
    last = answer.number;
  }

  // A member that resumes at another address, as of a relay, is seen elsewhere.
  using members = std::vector<core::epoch_members_answer::member>;
  static members without_peers(members all) {
    for (auto& one : all) one.peer.clear();
    return all;
  }

  // Those of all that a page from there on, of the same size, has.
  static members same_page(members const& all, std::size_t first, std::size_t size) {
    auto const begin = std::min(first, all.size());
    auto const end = std::min(begin + size, all.size());
    using difference = members::difference_type;
    return {all.begin() + static_cast<difference>(begin),
            all.begin() + static_cast<difference>(end)};
  }

  void check_list(call_record const& c, core::epoch_members_answer const& all) {
    epoch_story const& of = epochs_.at(all.epoch);
    if (of.members) {
      auto const first = c.asks<core::epoch_members_args>()->first_task.value;
      auto const& whole = of.members->members;
      auto const expected = same_page(whole, first, all.members.size());
      bool const is_last = first + all.members.size() >= whole.size();
      if (without_peers(expected) != without_peers(all.members) ||
          is_last == all.next_task.has_value()) {
        report_violation("not the same members", c);
      }
    }
    if (!epochs_.may_have_begun(all.epoch, *c.answered)) report_violation("it has not begun", c);
    std::set<incarnation> different;
    for (auto const& one : all.members) different.insert(one.self);
    if (different.size() != all.members.size()) report_violation("a process is in it twice", c);
  }

  void check_size(std::uint64_t number, epoch_story const& of) {
    if (!of.members) return;
    std::size_t const size = of.members->members.size();
    if (size < h_.options.min_tasks || size > target_of(number)) {
      report_violation("has " + std::to_string(size) + " tasks", number);
    }
  }
  // The most tasks of the epoch, if a resize was not concurrent.
  [[nodiscard]] std::size_t target_of(std::uint64_t number) const {
    std::size_t target = h_.options.num_tasks;
    time_point const begun = h_.earliest(epochs_.begun_by(number));
    for (call_record const& c : h_.calls) {
      auto const* const resize = c.asks<core::resize_args>();
      if (!resize || c.made > epochs_.begun_by(number)) continue;
      bool const is_before = c.is_ok() && *c.answered < begun;
      target = is_before ? resize->num_tasks : std::size_t{h_.options.num_tasks};
    }
    return target;
  }

  void check_members(std::uint64_t number, epoch_story const& of) {
    if (!of.members) return;
    auto const& all = of.members->members;
    for (auto const& [task, c] : of.answered) {
      bool const is_listed = task.value < all.size() &&
                             all[task.value].self == h_.processes[c->process].self &&
                             all.size() == epoch_in(*c)->size;
      if (!is_listed) report_violation("it is no such member", *c);
    }
    auto const joined =
        std::count_if(all.begin(), all.end(), [](auto const& one) { return !one.survivor; });
    for (auto const& [_, c] : of.answered) {
      if (epoch_in(*c)->joined != joined) report_violation("not as many have joined", *c);
    }
    bool const is_sorted = std::is_sorted(
        all.begin(), all.end(), [](auto const& a, auto const& b) { return a.name < b.name; });
    if (h_.options.ranks == core::rank_order::member && number > 1 && !is_sorted) {
      report_violation("is not sorted by member", number);
    }
  }

  // Members keep their numbers, but one of them is task 0.
  void check_numbers(std::uint64_t number, epoch_story const& before, epoch_story const& after) {
    if (!before.members || !after.members) return;
    auto const& old = before.members->members;
    auto const& now = after.members->members;
    std::optional<std::size_t> lowest;
    for (std::size_t was = 0; was < old.size(); ++was) {
      auto const at = std::find_if(now.begin(), now.end(), [&](auto const& one) {
        return one.survivor && one.self == old[was].self;
      });
      if (at == now.end()) continue;
      auto const is = static_cast<std::size_t>(at - now.begin());
      bool const is_lowest = !std::exchange(lowest, lowest.value_or(was)).has_value();
      if (h_.options.ranks == core::rank_order::member) continue;
      bool const is_right = is_lowest ? is == 0 : is == was || was >= now.size();
      if (!is_right) {
        report_violation("moves task " + std::to_string(was) + " to " + std::to_string(is),
                         number + 1);
      }
    }
    auto const survivors =
        std::count_if(now.begin(), now.end(), [](auto const& one) { return one.survivor; });
    auto const known = std::count_if(now.begin(), now.end(), [&](auto const& one) {
      return one.survivor && std::any_of(old.begin(), old.end(), [&](auto const& other) {
               return other.self == one.self && other.name == one.name;
             });
    });
    if (survivors != known) report_violation("has survivors of no epoch", number + 1);
  }

  // Each member of an epoch has called next_epoch before the next one begins, has failed or has
  // left.
  void check_readiness(std::uint64_t number, epoch_story const& of, epoch_story const& next) {
    if (!of.begins || !next.begins || !of.members) return;
    for (std::uint32_t i = 0; i < of.members->members.size(); ++i) {
      incarnation const self = of.members->members[i].self;
      bool const has_called =
          std::any_of(h_.calls.begin(), h_.calls.end(), [&](call_record const& c) {
            return h_.ends_epoch(c, number) && c.made <= seen(next.begins) &&
                   h_.processes[c.process].self == self;
          });
      if (has_called || is_gone(task_id{i}, *of.begins, *next.begins)) continue;
      report_violation("begins without task " + std::to_string(i) + " of the last", number + 1);
    }
  }
  // Between these events.
  [[nodiscard]] bool is_gone(task_id task, std::size_t from, std::size_t to) const {
    return std::any_of(
        h_.events.begin() + static_cast<std::ptrdiff_t>(from),
        h_.events.begin() + static_cast<std::ptrdiff_t>(to), [task](event_record const& e) {
          return e.what.what.task == task &&
                 (is_failure(e.what.what.kind) || e.what.what.kind == core::event_kind::left);
        });
  }

  // It begins as soon as the last survivor has called next_epoch and the last loss is known: nobody
  // is awaited who may come back.
  void check_waiting_time(std::uint64_t number, epoch_story const& of, epoch_story const& next) {
    if (!of.begins || !next.begins || !next.members) return;
    time_point const begun = h_.earliest(seen(next.begins));
    time_point since = seen(of.begins);
    for (std::size_t i = *of.begins; i < *next.begins; ++i) {
      auto const kind = h_.events[i].what.what.kind;
      bool const is_loss = is_failure(kind) || kind == core::event_kind::left;
      if (is_loss) since = std::max(since, h_.events[i].at);
    }
    std::uint32_t survivors = 0;
    std::set<std::size_t> involved;  // processes
    for (call_record const& c : h_.calls) {
      auto const* const join = c.asks<core::join_args>();
      if (join && c.made < begun && c.over() > since) involved.insert(c.process);
      if (!h_.ends_epoch(c, number) || c.made > begun || !is_survivor(c.process, next)) continue;
      involved.insert(c.process);
      // The task of a guest is suspect while its host is away.
      if (auto const host = h_.processes[c.process].host) involved.insert(*host);
      since = std::max(since, c.made);
    }
    for (auto const& one : next.members->members) survivors += one.survivor ? 1 : 0;
    if (survivors < h_.options.min_tasks) return;
    duration enough = h_.stalled() + h_.seen_within + 2 * h_.delay_max + margin;
    for (std::size_t const one : involved) {
      bool const may_be_probed = !is_survivor(one, next) && is_named_as_member(one, of);
      if (may_be_probed || !h_.is_calm(one, since - calm_before, begun)) return;
      enough += h_.time_in_queue(one, since, begun) + h_.time_for_room(one);
    }
    if (begun > since + enough) report_violation("begins too late", number + 1);
  }
  [[nodiscard]] bool is_survivor(std::size_t process, epoch_story const& next) const {
    auto const& all = next.members->members;
    return std::any_of(all.begin(), all.end(), [&](auto const& one) {
      return one.survivor && one.self == h_.processes[process].self;
    });
  }
  [[nodiscard]] bool is_named_as_member(std::size_t process, epoch_story const& of) const {
    if (!of.members) return true;
    auto const& all = of.members->members;
    return std::any_of(all.begin(), all.end(),
                       [&](auto const& one) { return one.name == h_.processes[process].member; });
  }

  // A round passes when all members of its epoch have arrived, with the same result for all.
  void check_rounds() {
    using key = std::pair<std::uint64_t, std::pair<std::string, std::uint64_t>>;
    std::map<key, std::vector<call_record const*>> rounds;
    for (call_record const& c : h_.calls) {
      auto const* const passed = c.gave<core::barrier_answer>();
      auto const* const args = c.asks<core::barrier_args>();
      if (passed && args) rounds[{c.epoch, {args->name, passed->round.value}}].push_back(&c);
    }
    for (auto const& [of, released] : rounds) check_round(of.first, of.second.first, released);
  }
  void check_round(std::uint64_t number, text name,
                   std::vector<call_record const*> const& released) {
    for (call_record const* const c : released) {
      if (c->got != released.front()->got) report_violation("another result than for others", *c);
    }
    auto const& members = epochs_[number].members;
    if (!members) return;
    std::vector<task_id> expected = released.front()->asks<core::barrier_args>()->participants;
    bool const are_all = expected.empty();
    for (std::uint32_t i = 0; are_all && i < members->members.size(); ++i) {
      expected.push_back(task_id{i});
    }
    arrivals const who{h_, released};
    for (task_id const task : expected) {
      incarnation const self = members->members.at(task.value).self;
      auto const here = who.of([&](call_record const& c) {
        auto const* const args = c.asks<core::barrier_args>();
        return args && args->name == name && c.epoch == number &&
               h_.processes[c.process].self == self;
      });
      if (!here.empty()) continue;
      report_violation("passed without task " + std::to_string(task.value), *released.front());
    }
  }

  // Calls made in an epoch have no effect after it.
  void check_fence(call_record const& c) {
    std::uint64_t version = 0;
    auto const* const stored = c.gave<core::stored_answer>();
    bool const is_of_key = c.asks<core::put_args>() || c.asks<core::append_args>() ||
                           c.asks<core::put_all_args>() || c.asks<core::compare_and_set_args>();
    if (stored && is_of_key) version = stored->version;
    if (auto const* const sum = c.gave<core::counter_answer>()) version = sum->version;
    if (version == 0 || version > h_.keys.size()) return;
    if (h_.earliest(h_.keys[version - 1].at) > epochs_.begun_by(c.epoch + 1)) {
      report_violation("done after its epoch", c);
    }
  }

  // A call is aborted only if its epoch is over, or needs a member that has called next_epoch.
  void check_abortion(call_record const& c) {
    if (c.got.outcome.code() != errc::aborted || !h_.has_all_events()) return;
    text why = c.got.outcome.message();
    if (why.starts_with("epoch " + std::to_string(c.epoch) + " is over: ")) {
      auto const& over = epochs_[c.epoch].is_over;
      bool const is_over = over && h_.earliest(seen(over)) <= *c.answered;
      if (!is_over && !epochs_.may_have_begun(c.epoch + 1, *c.answered)) {
        report_violation("its epoch is not over", c);
      }
    } else if (states(why, &core::reasons::member_waits_for_epoch)) {
      bool const waits = std::any_of(h_.calls.begin(), h_.calls.end(), [&](call_record const& by) {
        return h_.ends_epoch(by, c.epoch) && by.made <= *c.answered;
      });
      if (!waits) report_violation("no member waits for the next epoch", c);
    }
  }

  // Those below epoch/N/ are removed when epoch N+2 begins.
  void check_keys() {
    std::map<std::string, std::uint64_t> present;  // and their epochs
    std::map<std::string, time_point> removed;
    for (key_record const& one : h_.keys) {
      auto const number = number_in(one.what.key, "epoch/", "/");
      if (!number) continue;
      if (one.what.value) {
        present[one.what.key] = *number;
        continue;
      }
      removed[one.what.key] = h_.earliest(one.at);
      if (one.at < h_.ended && !epochs_.may_have_begun(*number + 2, one.at)) {
        found_.push_back("'" + one.what.key + "' was removed too early");
      }
    }
    for (auto const& [key, number] : present) {
      time_point const due = epochs_.begun_by(number + 2);
      auto const at = removed.find(key);
      bool const is_removed = at != removed.end() && at->second <= due;
      if (due < h_.ended && !is_removed) found_.push_back("'" + key + "' was not removed");
    }
  }

  void check_failure() {
    if (!h_.failure) return;
    text why = h_.failure->cause.why.message();
    bool const is_expected =
        states(why, &core::reasons::too_few_tasks) ||
        states(why, &core::reasons::too_few_while_draining) ||
        (states(why, &core::reasons::too_many_epochs) && h_.options.epochs_max > 0);
    if (!is_expected) found_.push_back("the job has failed: " + why);
  }

  history const& h_;
  violations& found_;
  epoch_stories epochs_;
  std::map<std::size_t, std::uint64_t> last_;  // of each process
};

}  // namespace

void check_epochs(history const& h, violations& found) {
  if (h.options.elastic) epoch_judge{h, found}.check();
}

}  // namespace coxswain::sim
