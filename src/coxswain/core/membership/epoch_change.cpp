// How the next epoch begins.

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/membership/epochs.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {

void epochs::time_due(time_point now) {
  look_again_ = true;
  follow_up(now);
}

void epochs::follow_up(time_point now) {
  bool const is_on = options_.elastic && !error_ && !kernel_.stopping;
  if (!is_on) {
    departed_.clear();
    look_again_ = false;
    return;
  }
  bool const is_same = seen_ == roster_.version();
  if (is_same && !look_again_ && departed_.empty()) return;
  do {
    look_again_ = false;
    take_departures();
    if (concerns_.enrolment.job_is_over()) {
      called_.reset();
      full_.reset();
      short_.reset();
      break;
    }
    notice_wishes(now);
    leave_behind(now);
    if (departed_.empty()) form(now);
  } while (!error_ && (look_again_ || !departed_.empty()));
  look_again_ = false;
  departed_.clear();
  seen_ = roster_.version();
  arm(now);
}

void epochs::notice_wishes(time_point now) {
  if (number_ == 0 || is_over_ || options_.grow == growth::never) return;
  applicants const joining = admissible(now);
  if (joining.empty()) return;
  bool const has_room = roster_.size() < target_;
  if (has_room && options_.grow == growth::now) {
    return end_over(epoch_ends::cause::joiners,
                    "processes joining: " + std::to_string(joining.size()));
  }
  if (has_room) {
    return wish(epoch_ends::cause::joiners,
                "processes waiting to join: " + std::to_string(joining.size()));
  }
  if (!preempted_.empty()) {
    wish(epoch_ends::cause::asked,
         kernel_.who(*preempted_.begin()) + " will be preempted, and a spare waits");
  }
}

// Members that do not call next_epoch would hold up all others.
void epochs::leave_behind(time_point now) {
  bool const never = options_.epoch_timeout <= 0s || options_.epoch_timeout == without_limit;
  if (!called_ || never || kernel_.credited(*called_, options_.epoch_timeout) > now) return;
  called_.reset();
  if (ready_.empty()) return;
  leaves_behind_ = true;
  for (task_id const id : unready()) {
    if (kernel_.is_suspect(roster_.at(id))) continue;
    concerns_.failures.fail_task(now, id, fail<&reasons::left_behind>(options_.epoch_timeout));
  }
  leaves_behind_ = false;
}

bool epochs::have_all_called() const {
  return ready_.size() == roster_.count(task_state::connected);
}

// Every member that lives has called next_epoch; whether one that is suspect lives is awaited.
bool epochs::is_settled() const {
  if (!have_all_called()) return false;
  return std::all_of(ready_.begin(), ready_.end(), [this](auto const& entry) {
    task const& t = roster_.at(entry.first);
    return !kernel_.is_suspect(t) && !t.holder_probe;
  });
}

epochs::applicants epochs::admissible(time_point now) const {
  bool const admits = number_ == 0 || options_.grow != growth::never;
  bool const all_agree = std::none_of(ready_.begin(), ready_.end(),
                                      [](auto const& entry) { return entry.second.shrink_only; });
  if (!admits || !all_agree) return {};
  applicants found = concerns_.enrolment.in_order(number_ == 0);
  std::erase_if(found, [&](std::uint64_t number) {
    return backoff_.until(concerns_.enrolment.host_of(number)) > now;
  });
  return found;
}

// Joiners only: a lost member may join a later epoch.
bool epochs::is_anybody_on_the_way() const {
  return number_ == 0 || concerns_.enrolment.has_lost_connection();
}

void epochs::form(time_point now) {
  if (number_ > 0 && ending_.empty()) return;
  // The last call goes on while only connections are missing.
  if (!have_all_called()) full_.reset();
  bool const settled = is_settled();
  if (!settled && !short_) return;
  applicants joining = admissible(now);
  std::size_t const members = roster_.count(task_state::connected);
  auto const size = std::min<std::size_t>(target_, members + joining.size());
  if (size < options_.min_tasks) {
    if (members + concerns_.enrolment.waiting() < options_.min_tasks) full_.reset();
    if (number_ == 0) return;
    // Members whose call expires and that call again do not prolong it.
    if (!short_) short_ = kernel_.alive_since(now);
    bool const is_hopeless = concerns_.ends.is_draining();
    if (is_hopeless || kernel_.credited(*short_, options_.min_wait) <= now) fail_short(now);
    return;
  }
  short_.reset();
  if (!settled) return;
  if (size < target_ && is_anybody_on_the_way()) {
    if (!full_) full_ = kernel_.alive_since(now);
    if (kernel_.credited(*full_, options_.last_call) > now) return;
  }
  begin(now, std::move(joining));
}

void epochs::fail_short(time_point now) {
  std::string losses;
  for (std::string const& loss : losses_) losses += "; " + loss;
  if (losses_left_out_ > 0) losses += "; and " + std::to_string(losses_left_out_) + " more";
  losses += applicants_text(now);
  auto const connected = roster_.count(task_state::connected);
  status why = concerns_.ends.is_draining()
                   ? fail<&reasons::too_few_while_draining>(options_.min_tasks, connected,
                                                            roster_.size(), number_, losses)
                   : fail<&reasons::too_few_tasks>(options_.min_tasks, options_.min_wait, connected,
                                                   roster_.size(), number_, losses);
  concerns_.failures.fail_job(now, {std::nullopt, std::move(why)});
}

// Members keep their numbers where they can, and task 0 is one of them.
void epochs::place_by_rank(plan& next, std::vector<task_id> const& staying,
                           applicants const& joining) const {
  std::vector<task_id> moving;
  for (task_id const id : staying) {
    if (id.value < next.was.size()) {
      next.was[id.value] = id;
    } else {
      moving.push_back(id);
    }
  }
  if (!staying.empty() && !next.was[0]) {
    task_id const lowest = staying.front();
    if (lowest.value < next.was.size()) next.was[lowest.value].reset();
    std::erase(moving, lowest);
    next.was[0] = lowest;
  }
  auto member = moving.begin();
  auto joiner = joining.begin();
  for (std::size_t i = 0; i < next.was.size(); ++i) {
    if (next.was[i]) continue;
    if (member != moving.end()) {
      next.was[i] = *member++;
    } else {
      next.applicant[i] = *joiner++;
    }
  }
}

void epochs::place_by_name(plan& next, std::vector<task_id> const& staying,
                           applicants const& joining) const {
  struct place {
    std::string name;
    std::optional<task_id> was;
    std::uint64_t applicant{};
  };
  std::vector<place> all;
  for (task_id const id : staying) all.push_back({concerns_.enrolment.member_of(id), id, 0});
  for (std::uint64_t const number : joining) {
    all.push_back({concerns_.enrolment.name_of(number), std::nullopt, number});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](place const& a, place const& b) { return a.name < b.name; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    next.was[i] = all[i].was;
    next.applicant[i] = all[i].applicant;
  }
}

epochs::plan epochs::planned(applicants joining) const {
  plan next;
  std::vector<task_id> staying;
  for (auto const& [id, _] : ready_) staying.push_back(id);
  std::size_t const vacant = staying.size() < target_ ? target_ - staying.size() : 0;
  // Each applicant beyond that takes the place of one who will be preempted.
  std::size_t beyond = joining.size() - std::min(joining.size(), vacant);
  for (task_id const id : preempted_) {
    if (beyond == 0 || !ready_.contains(id)) continue;
    --beyond;
    std::erase(staying, id);
    next.leaving.push_back(id);
  }
  while (staying.size() > target_) {
    next.leaving.push_back(staying.back());
    staying.pop_back();
  }
  std::size_t const size = std::min<std::size_t>(target_, staying.size() + joining.size());
  joining.resize(size - staying.size());
  next.was.resize(size);
  next.applicant.resize(size);
  next.joined = static_cast<std::uint32_t>(joining.size());
  if (options_.ranks == rank_order::member) {
    place_by_name(next, staying, joining);
  } else {
    place_by_rank(next, staying, joining);
  }
  return next;
}

void epochs::begin(time_point now, applicants joining) {
  if (options_.epochs_max != 0 && number_ >= options_.epochs_max) {
    return concerns_.failures.fail_job(
        now, {std::nullopt, fail<&reasons::too_many_epochs>(number_, ending_)});
  }
  plan const next = planned(std::move(joining));
  if (number_ > 0) end_calls();
  auto const ready = std::exchange(ready_, {});
  for (auto const& [_, member] : ready) calls_.unpark(member.who);
  auto const members_before = number_ == 0 ? 0 : roster_.size();
  dismiss(now, next, ready);
  rearrange(now, next);

  ++number_;
  began_ = now;
  lost_ = members_before - (roster_.size() - next.joined);
  why_ = {};
  ending_.clear();
  is_over_ = false;
  called_.reset();
  full_.reset();
  losses_.clear();
  losses_left_out_ = 0;
  departed_.clear();
  kernel_.log(severity::info, event_kind::joined,
              "epoch " + std::to_string(number_) + " begins: " + std::to_string(roster_.size()) +
                  " tasks; " + std::to_string(lost_) + " lost, " + std::to_string(next.joined) +
                  " joined");
  if (number_ > 2) {
    concerns_.keys.remove_directory("epoch/" + std::to_string(number_ - 2));
  }
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    if (!next.was[i]) concerns_.enrolment.give(now, next.applicant[i], task_id{i});
  }
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    if (!next.was[i]) continue;
    ticket const who = ready.at(*next.was[i]).who;
    answer_ptr const what = calls_.share(answer_for(task_id{i}));
    kernel_.tally.count_request(operation_id<next_epoch_args>, errc::ok);
    sessions_.reply(who, what, true);
    session_id const holder = roster_.at(task_id{i}).held_by;
    if (holder != who.session) sessions_.push(*sessions_.find(holder), what);
  }
  // Its members know their epoch by then.
  concerns_.preemptions.plan_agreement(now);
  look_again_ = true;
}

// Those that are not in the next epoch leave.
void epochs::dismiss(time_point now, plan const& next, std::map<task_id, readiness> const& ready) {
  for (task_id const id : next.leaving) {
    status why = preempted_.contains(id) && id.value < target_
                     ? fail<&reasons::left_for_spare>(kernel_.who(id))
                     : fail<&reasons::left_by_resize>(kernel_.who(id), target_text());
    session_id const holder = roster_.at(id).held_by;
    concerns_.leaves.depart(now, id);
    kernel_.tally.count_request(operation_id<next_epoch_args>, errc::cancelled);
    // The body, an epoch without tasks, distinguishes it from a call that was replaced.
    auto const what = make_answer({std::move(why), epoch_answer{}});
    ticket const who = ready.at(id).who;
    sessions_.reply(who, what, true, true);
    if (holder != who.session) sessions_.push(*sessions_.find(holder), what);
  }
  preempted_.clear();
}

// The members get their new numbers everywhere, and joiners a place.
void epochs::rearrange(time_point now, plan const& next) {
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    deadlines_.disarm(roster_.at(task_id{i}).progress_due);
  }
  std::map<task_id, task_id> moved;
  for (std::uint32_t i = 0; i < next.was.size(); ++i) {
    if (next.was[i]) moved.emplace(*next.was[i], task_id{i});
  }
  roster_.rearrange(next.was);
  kernel_.resize_everyone();
  sessions_.all().each([&](session_id, session& s) {
    for (task_id& id : s.tasks) id = moved.at(id);
    s.replaced.clear();
  });
  concerns_.keys.renumber(moved);
  concerns_.enrolment.renumber(moved);
  concerns_.preemptions.renumber(moved);
  concerns_.guests.renumber(now, moved);
  joiners_.clear();
  for (std::uint32_t i = 0; i < next.was.size(); ++i) {
    if (next.was[i]) {
      concerns_.progress.watch(task_id{i});
    } else {
      joiners_.insert(task_id{i});
    }
  }
}

void epochs::arm(time_point now) {
  auto next = time_point::max();
  auto const wait = [&](std::optional<liveness> const& since, duration allowed) {
    if (!since || allowed == without_limit) return;
    // Once it is over, only connections are missing.
    time_point const until = kernel_.credited(*since, allowed);
    if (until > now) next = std::min(next, until);
  };
  wait(full_, options_.last_call);
  wait(short_, options_.min_wait);
  if (options_.epoch_timeout > 0s) wait(called_, options_.epoch_timeout);
  for (std::uint64_t const number : concerns_.enrolment.in_order(false)) {
    time_point const until = backoff_.until(concerns_.enrolment.host_of(number));
    if (until > now) next = std::min(next, until);
  }
  if (error_ || next == time_point::max()) return deadlines_.disarm(alarm_);
  deadlines_.arm(alarm_, {next, due::epoch});
}

}  // namespace coxswain::core
