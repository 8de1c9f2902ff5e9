#include "coxswain/core/observe/stack_verbs.hpp"

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/reasons.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace coxswain::core {
namespace {

constexpr duration late_after = 10s;
constexpr duration taken_every = 5s;
constexpr duration taken_within = 10s;
constexpr std::size_t asked_tasks_max = 64;

// Of one stack, of one rest, and of all. Beyond that, stacks have their first line only.
constexpr std::size_t stack_bytes_max = 8 * 1024;
constexpr std::size_t rest_bytes_max = 8 * 1024;
constexpr std::size_t all_bytes_max = 256 * 1024;
constexpr std::size_t line_bytes_max = 256;

}  // namespace

void stack_verbs::handle(call const& c, stacks_args& args) {
  if (args.number == 0) take(c.now);
  stacks_answer seen = look(c.now);
  kernel_.tally.steps += seen.groups.size();
  calls_.answer_now(c, calls_.share(std::move(seen)), false);
}

void stack_verbs::handle(call const& c, report_stack_args& args) {
  if (status why = report(c.from.session, std::move(args)); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  calls_.answer_now(c, calls_.plain_ok(), false);
}

// Those that others wait for, and those that should have advanced.
std::vector<missing_tasks::late_task> stack_verbs::late(time_point now) {
  auto all = concerns_.missing.late(now, late_after, kernel_.tally.steps);
  auto const waited_for = all.size();
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    bool const is_stalled = t.is_connected() && t.progress && t.progress->reported;
    auto const is_it = [i](auto const& each) { return each.task == task_id{i}; };
    bool const is_known =
        is_stalled && std::any_of(all.begin(), all.begin() + std::ptrdiff_t(waited_for), is_it);
    if (is_stalled && !is_known) all.push_back({task_id{i}, now - t.progress->rose.since});
  }
  return all;
}

void stack_verbs::take(time_point now) {
  if (number_ > 0 && now - began_ < taken_every) return;
  forget();
  ++number_;
  began_ = now;
  auto all = late(now);
  more_ = static_cast<std::uint32_t>(all.size() - std::min(all.size(), asked_tasks_max));
  all.resize(all.size() - more_);
  std::map<session_id, stacks_wanted> wanted;
  for (auto const& [task, waited] : all) {
    auto by = taker_of(task);
    asked_.push_back({task, by ? by->session : session_id{}, waited, !by});
    if (by) {
      wanted[by->session].processes.push_back({task, std::move(by->name)});
    } else {
      add(task, waited, false, untaken_text(task), {});
    }
  }
  for (auto& [session, what] : wanted) {
    what.number = number_;
    answer_ptr message = calls_.share(std::move(what));
    if (session == session_id{}) {
      kernel_.out.push_back({{}, {}, std::move(message)});
    } else {
      sessions_.push(*sessions_.find(session), std::move(message));
    }
  }
}

// The nearest one: `coxswain task`, a relay, or `coxswain run` itself.
std::optional<stack_verbs::taker> stack_verbs::taker_of(task_id id) const {
  task const& t = roster_.at(id);
  session const* const holder = sessions_.find(t.held_by);
  if (!holder) return std::nullopt;
  std::string const& name = holder->from.label();
  auto const takes = [this](session_id who) {
    session const* const s = sessions_.find(who);
    return s && s->takes_stacks && s->attached != connection_id{};
  };
  if (takes(t.held_by)) return taker{t.held_by, name};
  auto const supervisor = concerns_.failures.supervisor_of(id);
  if (supervisor && takes(*supervisor)) return taker{*supervisor, name};
  if (options_.reports_ends) return taker{{}, name};
  return relay_of(*holder);
}

// The one whose address is in the name of the peer.
std::optional<stack_verbs::taker> stack_verbs::relay_of(session const& s) const {
  std::string const& peer = s.from.peer();
  auto const end = peer.rfind(via_relay);
  if (end == peer.npos) return std::nullopt;
  std::string_view const address = std::string_view{peer}.substr(0, end);
  std::optional<taker> found;
  sessions_.all().each([&](session_id id, session const& each) {
    bool const takes = each.given == role::relay && each.takes_stacks && !found;
    connection const* const c = takes ? sessions_.find(each.attached) : nullptr;
    if (c && c->peer == address) found = taker{id, peer.substr(end + via_relay.size())};
  });
  return found;
}

std::string stack_verbs::untaken_text(task_id id) const {
  std::string const& label = kernel_.from_of(roster_.at(id)).label();
  return "not started by coxswain run or coxswain task, nor behind a relay" +
         (label.empty() ? std::string{} : ": look at " + label + " there");
}

void stack_verbs::forget() {
  memory_.subtract(bytes_);
  bytes_ = 0;
  asked_.clear();
  groups_.clear();
}

void stack_verbs::add(task_id task, duration missing_for, bool is_taken, std::string stack,
                      std::string rest) {
  stack = shortened(stack, stack_bytes_max);
  auto const is_equal = [&](group const& g) { return g.is_taken == is_taken && g.stack == stack; };
  auto known = std::find_if(groups_.begin(), groups_.end(), is_equal);
  if (known == groups_.end()) {
    rest = shortened(rest, rest_bytes_max);
    if (bytes_ + stack.size() + rest.size() > all_bytes_max) {
      rest.clear();
      stack = shortened(stack.substr(0, stack.find('\n')), line_bytes_max);
    }
    std::size_t const bytes = sizeof(group) + stack.size() + rest.size();
    bytes_ += bytes;
    memory_.add(bytes);
    groups_.push_back({{}, {}, is_taken, std::move(stack), std::move(rest)});
    known = groups_.end() - 1;
  }
  known->tasks.push_back(task);
  known->missing_for = std::max(known->missing_for, missing_for);
}

status stack_verbs::report(session_id by, report_stack_args what) {
  auto const is_it = [&](asked const& each) {
    return each.task == what.task && each.of == by && !each.has_answered;
  };
  auto const found = std::find_if(asked_.begin(), asked_.end(), is_it);
  if (what.number != number_ || found == asked_.end())
    return fail<&reasons::stack_is_not_wanted>(what.task);
  found->has_answered = true;
  bool const is_taken = !what.stack.empty();
  add(what.task, found->missing_for, is_taken, is_taken ? std::move(what.stack) : what.rest,
      is_taken ? std::move(what.rest) : std::string{});
  return {};
}

void stack_verbs::session_ended(time_point, session_id id, status const&) {
  for (asked& each : asked_) {
    if (each.of != id || std::exchange(each.has_answered, true)) continue;
    add(each.task, each.missing_for, false, "the program that takes its stack has ended", {});
  }
}

stacks_answer::group stack_verbs::shown(group const& of) {
  std::vector<task_id> tasks = of.tasks;
  std::sort(tasks.begin(), tasks.end());
  task_ranges named = ranges(tasks);
  return {std::move(named.text),
          named.cut,
          static_cast<std::uint32_t>(tasks.size()),
          of.missing_for,
          of.is_taken,
          of.stack,
          of.rest};
}

// The rarest stack first: it is the one of whoever holds up the others.
stacks_answer stack_verbs::look(time_point now) const {
  stacks_answer seen;
  seen.number = number_;
  if (number_ == 0) return seen;
  seen.age = now - began_;
  seen.wanted = static_cast<std::uint32_t>(asked_.size());
  seen.more = more_;
  for (group const& each : groups_) seen.groups.push_back(shown(each));
  group silent{{}, {}, false, "no stack came from its host within 10 s", {}};
  for (asked const& each : asked_) {
    if (each.has_answered) continue;
    silent.tasks.push_back(each.task);
    silent.missing_for = std::max(silent.missing_for, each.missing_for);
  }
  seen.complete = silent.tasks.empty() || seen.age >= taken_within;
  if (seen.complete && !silent.tasks.empty()) seen.groups.push_back(shown(silent));
  auto const before = [](stacks_answer::group const& a, stacks_answer::group const& b) {
    return a.is_taken != b.is_taken ? a.is_taken : a.count < b.count;
  };
  std::stable_sort(seen.groups.begin(), seen.groups.end(), before);
  return seen;
}

}  // namespace coxswain::core
