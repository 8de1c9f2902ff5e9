#include "coxswain/core/membership/epochs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/operations.hpp"
#include "coxswain/core/observe/picture_budget.hpp"
#include "coxswain/core/observe/wait_graph.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace coxswain::core {
namespace {

// How many losses of one epoch are named when the job fails.
constexpr std::size_t losses_max = 16;
constexpr std::size_t loss_bytes_max = 256;

// How many processes that wait to join are named.
constexpr std::size_t applicants_named_max = 16;

template <class... Args>
bool is_any_of(request const& what) {
  return (std::holds_alternative<Args>(what) || ...);
}

bool chooses_epoch(request const& what) { return is_any_of<join_args, next_epoch_args>(what); }

bool leaves_alone(request const& what) {
  auto const* const leave = std::get_if<leave_args>(&what);
  return leave && leave->timeout <= 0s;
}

bool ends_with_epoch(request const& what) {
  return row_of(what).is(trait::of_epoch) && !leaves_alone(what);
}

// Calls that need other members, and which ones: none named means all.
std::optional<std::vector<task_id>> needed_by(request const& what) {
  if (auto const* const barrier = std::get_if<barrier_args>(&what)) return barrier->participants;
  if (auto const* const alive = std::get_if<alive_args>(&what)) return alive->tasks;
  bool const needs_all = is_any_of<exchange_topology_args, leave_args>(what) && !leaves_alone(what);
  return needs_all ? std::optional{std::vector<task_id>{}} : std::nullopt;
}

}  // namespace

epochs::epochs(concerns& all)
    : blocking_concern{all, {operation_id<next_epoch_args>, blocking_calls::wait::for_tasks}},
      target_{options_.num_tasks} {}

void epochs::job_failed(time_point, status const& why, barrier_failure const*) {
  auto const ready = ready_;
  answer_ptr const what = calls_.share(status{errc::aborted, why.message()});
  for (auto const& [_, member] : ready) calls_.answer_parked(member.who, what);
  full_.reset();
  short_.reset();
  departed_.clear();
  deadlines_.disarm(alarm_);
}

void epochs::cancel(ticket, parked const& p) {
  ready_.erase(*p.task);
  look_again_ = true;
}

answer_ptr epochs::overdue(time_point now, parked const& p) {
  auto const missing = unready();
  status why = fail<&reasons::no_epoch_in_time>(number_ + 1, now - p.since, waiting_text(now));
  if (missing.empty()) return calls_.share(std::move(why));
  return make_answer({std::move(why), concerns_.missing.describe(now, missing, roster_.size())});
}

std::string epochs::missing_text(time_point now, ticket, parked const&) {
  return waiting_text(now);
}

std::string epochs::goal_text(parked const&) const { return "the next epoch"; }

std::string epochs::stuck_text(parked const&) const { return "in next_epoch"; }

std::vector<task_id> epochs::awaited(parked const&) const { return unready(); }

void epochs::add_to(wait_graph& g, picture_budget& budget) const {
  if (ready_.empty() || !budget.take(roster_.size())) return;
  std::vector<task_id> waiting;
  for (auto const& [id, _] : ready_) waiting.push_back(id);
  g.wait_for_all(std::move(waiting), unready());
}

void epochs::check(ticket who, parked const& p) const {
  invariant(ready_.at(*p.task).who == who, "a member that waits for an epoch is ready");
}

void epochs::check_invariants() const {
  invariant(options_.elastic || (number_ == 0 && ready_.empty() && !alarm_.armed()),
            "only an elastic job has epochs");
  invariant(departed_.empty(), "departures have been handled");
  invariant(!is_over_ || !ending_.empty(), "an epoch is over for a reason");
  invariant(!error_ || ready_.empty(), "no epoch follows once the job has failed");
  invariant(!options_.elastic || number_ == 0 || roster_.count(task_state::never_connected) == 0,
            "each task of an epoch is a member");
  for (auto const& [id, _] : ready_) {
    invariant(roster_.at(id).is_connected(), "a member that has gone is not ready");
  }
}

std::vector<task_id> epochs::unready() const {
  std::vector<task_id> missing;
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    if (roster_.at(task_id{i}).is_connected() && !ready_.contains(task_id{i})) {
      missing.push_back(task_id{i});
    }
  }
  return missing;
}

std::string epochs::waiting_text(time_point now) const {
  auto const missing = unready();
  if (!missing.empty()) {
    return "waiting for next_epoch of " + std::to_string(missing.size()) + " of " +
           std::to_string(roster_.count(task_state::connected)) +
           " members: " + ranges(missing).text;
  }
  if (short_) {
    return "waiting for processes to join: members left: " + std::to_string(ready_.size()) +
           ", min_tasks: " + std::to_string(options_.min_tasks) + applicants_text(now);
  }
  if (!is_settled()) return "waiting for a member whose connection is lost";
  return "the last call is open for " + in_words(options_.last_call);
}

// The processes that wait to join, and why they may not yet.
std::string epochs::applicants_text(time_point now) const {
  auto const all = concerns_.enrolment.all_waiting();
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), applicants_named_max); ++i) {
    std::string const why = why_not_yet(now, all[i]);
    text += (i == 0 ? "; processes waiting to join: " : ", ") +
            shortened(concerns_.enrolment.who(all[i]), loss_bytes_max) +
            (why.empty() ? "" : " (" + why + ")");
  }
  if (all.size() > applicants_named_max) {
    text += ", and " + std::to_string(all.size() - applicants_named_max) + " more";
  }
  return text;
}

// Empty: it may, as soon as there are enough.
std::string epochs::why_not_yet(time_point now, std::uint64_t applicant) const {
  if (!concerns_.enrolment.is_connected(applicant)) return "its connection is lost";
  if (number_ > 0 && options_.grow == growth::never) {
    return "nobody may join after the first epoch: grow is never";
  }
  for (auto const& [id, member] : ready_) {
    if (member.shrink_only) return kernel_.who(id) + " has called next_epoch with shrink_only";
  }
  std::string const host = concerns_.enrolment.host_of(applicant);
  time_point const until = backoff_.until(host);
  if (until <= now) return {};
  return "its host " + host + " has lost members again and again, and may join in " +
         in_words(std::chrono::ceil<std::chrono::seconds>(until - now));
}

std::string epochs::target_text() const {
  return std::to_string(target_) + (target_ == 1 ? " task" : " tasks");
}

status epochs::over() const { return fail<&reasons::epoch_is_over>(number_, ending_); }

bool epochs::is_cause_of(status const& why) const {
  return is_over_ && why.message().find(over().message()) != std::string::npos;
}

status epochs::no_member() const { return fail<&reasons::not_in_epoch>(number_); }

status epochs::checked(client_message const& message) const {
  bool const is_present = message.epoch == 0 || message.epoch == number_;
  if (is_present || chooses_epoch(message.what)) return {};
  if (!options_.elastic) return fail<&reasons::not_elastic>();
  return fail<&reasons::epoch_is_past>(message.epoch, number_);
}

result<std::optional<task_id>> epochs::acting(client_message const& message, session const& by,
                                              std::optional<task_id> as) const {
  if (chooses_epoch(message.what)) return as;
  if (message.epoch == 0 && !by.guest_of) return std::optional<task_id>{};
  if (message.epoch != 0 && !as) {
    return no_member();
  }
  if (!as) return as;
  if (is_over_ && ends_with_epoch(message.what)) return over();
  if (ready_.empty()) return as;
  auto const needed = needed_by(message.what);
  if (!needed) return as;
  if (needed->empty()) return waits_for_epoch(ready_.begin()->first);
  for (task_id const id : *needed) {
    if (ready_.contains(id)) return waits_for_epoch(id);
  }
  return as;
}

epoch_answer epochs::answer_for(task_id id) const {
  return {number_, roster_.size(),
          id,      kernel_.from_of(roster_.at(task_id{0})).peer(),
          lost_,   static_cast<std::uint32_t>(joiners_.size())};
}

void epochs::handle(call const& c, next_epoch_args& args) {
  if (!options_.elastic) return calls_.refuse<&reasons::not_elastic>(c);
  if (error_) return calls_.refuse(c, kernel_.job_failed(errc::aborted));
  if (!c.task) {
    if (args.after == 0) return calls_.refuse(c, kernel_.not_joined());
    return calls_.refuse(c, no_member());
  }
  if (args.after > number_) return calls_.refuse<&reasons::no_such_epoch>(c, args.after, number_);
  // A guest need not know an epoch.
  if (args.after < number_ && (args.after != 0 || !c.by.guest_of)) {
    return calls_.answer_now(c, calls_.share(answer_for(*c.task)), true);
  }
  calls_.park(c, *this, {}, args.timeout);
  auto const [at, is_new] = ready_.try_emplace(*c.task);
  ticket const older = std::exchange(at->second, {c.from, args.shrink_only}).who;
  if (!is_new) calls_.answer_superseded(older);
  if (!called_) called_ = kernel_.alive_since(c.now);
  look_again_ = true;
  wish(epoch_ends::cause::asked, kernel_.who(*c.task) + " has called next_epoch");
  if (!is_over_) end_calls_that_need(c.now, *c.task);
}

status epochs::waits_for_epoch(task_id id) const {
  return fail<&reasons::member_waits_for_epoch>(kernel_.who(id), number_ + 1);
}

// They would wait until the next epoch, which waits for their callers.
void epochs::end_calls_that_need(time_point now, task_id id) {
  status const why = waits_for_epoch(id);
  concerns_.barriers.fail_rounds_awaiting(now, id, why);
  concerns_.alive.end_queries_awaiting(id, why);
  concerns_.topologies.fail_open_exchanges(why);
  concerns_.leaves.end_open(why);
}

// The roster may have become smaller since the page before; the reader sees another epoch.
void epochs::handle(call const& c, epoch_members_args& args) {
  if (!options_.elastic) return calls_.refuse<&reasons::not_elastic>(c);
  if (number_ == 0) return calls_.refuse<&reasons::no_epoch_has_begun>(c);
  std::uint32_t const first = std::min(args.first_task.value, roster_.size());
  auto const end = static_cast<std::uint32_t>(
      std::min<std::size_t>(roster_.size(), first + options_.page_entries_max));
  epoch_members_answer page;
  page.epoch = number_;
  page.members.reserve(end - first);
  for (std::uint32_t i = first; i < end; ++i) {
    task const& t = roster_.at(task_id{i});
    origin const& from = kernel_.from_of(t);
    page.members.push_back({concerns_.enrolment.member_of(task_id{i}), t.self, from.label(),
                            from.peer(), !joiners_.contains(task_id{i})});
  }
  if (end < roster_.size()) page.next_task = task_id{end};
  kernel_.tally.steps += page.members.size();
  calls_.answer_now(c, calls_.share(std::move(page)), false);
}

void epochs::handle(call const& c, resize_args& args) {
  if (!options_.elastic) return calls_.refuse<&reasons::not_elastic>(c);
  if (error_) return calls_.refuse(c, kernel_.job_failed(errc::failed_precondition));
  if (args.num_tasks < options_.min_tasks || args.num_tasks > options_.num_tasks) {
    return calls_.refuse<&reasons::size_is_out_of_range>(c, options_.min_tasks, options_.num_tasks,
                                                         args.num_tasks);
  }
  target_ = args.num_tasks;
  look_again_ = true;
  calls_.answer_now(c, calls_.share(status{}), true);
  std::string const text = kernel_.whose(c.by) + " asks for " + target_text();
  kernel_.log(severity::info, event_kind::other, text);
  if (number_ > 0 && target_ < roster_.size()) wish(epoch_ends::cause::asked, text);
}

void epochs::failed(time_point now, task_id id, status const& why) {
  if (!leaves_behind_) backoff_.lost(now, host_of(id));
  departed_.push_back(kernel_.who(id) + " failed: " + shortened(why.text(), loss_bytes_max));
}

void epochs::left(task_id id) {
  if (options_.elastic) departed_.push_back(kernel_.who(id) + " has left");
}

void epochs::preempted(task_id id) {
  if (!options_.elastic) return;
  preempted_.insert(id);
  look_again_ = true;
}

// Where the member runs: as its placement says, or its label, or its connection.
std::string epochs::host_of(task_id id) const {
  origin const& from = kernel_.from_of(roster_.at(id));
  return concerns_.enrolment.host_of(id, from);
}

answer_ptr epochs::ending() const {
  epoch_ends what;
  what.epoch = number_;
  what.why = why_;
  what.text = ending_;
  what.joiners = static_cast<std::uint32_t>(concerns_.enrolment.waiting());
  return calls_.share(std::move(what));
}

void epochs::push_ending() const {
  answer_ptr const what = ending();
  sessions_.all().each([&](session_id, session& s) {
    if (!s.tasks.empty() || s.guest_of) sessions_.push(s, what);
  });
}

void epochs::send_ending(session& s) const {
  if (!ending_.empty() && (!s.tasks.empty() || s.guest_of)) sessions_.push(s, ending());
}

void epochs::wish(epoch_ends::cause why, std::string text) {
  if (number_ == 0 || !ending_.empty()) return;
  why_ = why;
  ending_ = std::move(text);
  kernel_.log(severity::info, event_kind::other,
              "epoch " + std::to_string(number_) + " is to end: " + ending_);
  push_ending();
}

// The present epoch can do nothing more.
void epochs::end_over(epoch_ends::cause why, std::string text) {
  if (is_over_) return;
  why_ = why;
  ending_ = std::move(text);
  is_over_ = true;
  kernel_.log(severity::warning, event_kind::other,
              "epoch " + std::to_string(number_) + " is over: " + ending_);
  push_ending();
  end_calls();
}

// Of all members, except those that wait for the next epoch.
void epochs::end_calls() {
  status const why = over();
  concerns_.barriers.end_epoch(kernel_.observed(), why);
  concerns_.topologies.job_failed(kernel_.observed(), why, nullptr);
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    calls_.end_waits_except(task_id{i}, *this, why);
  }
}

void epochs::take_departures() {
  auto const gone = std::exchange(departed_, {});
  if (gone.empty()) return;
  for (std::string const& name : gone) {
    if (losses_.size() < losses_max) {
      losses_.push_back(name);
    } else {
      ++losses_left_out_;
    }
  }
  bool const all_left = roster_.count(task_state::left) == roster_.size();
  if (!all_left) end_over(epoch_ends::cause::lost, gone.front());
}

std::optional<epochs::pause> epochs::present_pause(time_point now) const {
  if (!options_.elastic || (number_ > 0 && !is_over_)) return std::nullopt;
  pause p;
  p.last = number_;
  if (full_ && options_.last_call != without_limit) {
    p.begins_at = kernel_.credited(*full_, options_.last_call);
  }
  if (number_ == 0) {
    p.since = kernel_.started;
    return p;
  }
  p.text = ending_;
  if (!full_) p.text += "; " + waiting_text(now);
  if (called_) p.since = called_->since;
  p.missing = unready();
  return p;
}

void epochs::show(time_point now, snapshot& in) const {
  if (!options_.elastic) return;
  in.elastic = snapshot::elastic_state{number_,
                                       options_.min_tasks,
                                       options_.num_tasks,
                                       target_,
                                       ending_,
                                       is_over_,
                                       static_cast<std::uint32_t>(ready_.size()),
                                       number_ == 0 ? duration{} : now - began_};
}

}  // namespace coxswain::core
