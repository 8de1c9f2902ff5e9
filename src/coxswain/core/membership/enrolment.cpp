#include "coxswain/core/membership/enrolment.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace coxswain::core {
namespace {

constexpr std::size_t placement_parts_max = 8;
constexpr std::size_t shown_max = 64;

std::size_t bytes_of(std::vector<std::string> const& parts) {
  std::size_t bytes = 0;
  for (std::string const& part : parts) bytes += part.size();
  return bytes;
}

// How many first parts they have in common.
std::size_t common_parts(std::vector<std::string> const& a, std::vector<std::string> const& b) {
  auto const [end, _] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end - a.begin());
}

// As its placement says, or its label, or its connection.
std::string host_in(std::vector<std::string> const& placement, origin const& from) {
  if (!placement.empty()) return placement.back();
  std::string const& text = from.label().empty() ? from.peer() : from.label();
  return text.substr(0, text.rfind(':'));
}

}  // namespace

enrolment::enrolment(concerns& all)
    : waiting_concern{all, {operation_id<join_args>, std::nullopt, wait_traits::party::session}} {}

enrolment::~enrolment() {
  for (auto const& [_, waiting] : waiting_) memory_.subtract(cost(waiting.asked));
  for (auto const& [_, known] : members_) memory_.subtract(cost(known));
}

std::size_t enrolment::cost(join_args const& asked) {
  return asked.member.size() + bytes_of(asked.placement) + 512;
}

std::size_t enrolment::cost(member const& member) {
  return 2 * member.name.size() + bytes_of(member.placement) + 512;
}

void enrolment::job_failed(time_point, status const& why, barrier_failure const*) {
  refuse_all({errc::aborted, why.message()});
}

void enrolment::refuse_all(status const& why) {
  coming_back_.clear();
  full_since_.reset();
  arm();
  end_all(calls_.share(why));
}

void enrolment::stopping(time_point now, status const& why) {
  job_failed(now, why, nullptr);
  while (!members_.empty()) forget_member(members_.begin()->first);
}

void enrolment::cancel(ticket, parked const& p) {
  forget(waiting_.find(p.number));
  look_again_ = true;
}

void enrolment::add(std::uint64_t number, applicant waiting) {
  memory_.add(cost(waiting.asked));
  if (!waiting.asked.member.empty()) names_.emplace(waiting.asked.member, number);
  waiting_.emplace(number, std::move(waiting));
}

void enrolment::forget(by_arrival::iterator at) {
  memory_.subtract(cost(at->second.asked));
  names_.erase(at->second.asked.member);
  waiting_.erase(at);
}

// The session has ended without acknowledging its number, or does not want it.
void enrolment::put_back(std::vector<undelivered> numbers) {
  for (undelivered const& answer : numbers) {
    task_id const id = *std::get<join_answer>(answer.what->value).task;
    if (!roster_.has(id)) continue;
    task const& t = roster_.at(id);
    bool const is_held = t.held_by != session_id{};
    if (is_held && std::to_string(t.held_by.value) != answer.name) continue;
    not_received_.insert(id);
    if (!is_held) continue;
    concerns_.failures.fail_task(kernel_.observed(), id, fail<&reasons::join_was_cancelled>());
  }
}

answer_ptr enrolment::overdue(time_point now, parked const& p) {
  return calls_.share(fail<&reasons::no_number_in_time>(now - p.since, waiting_text()));
}

std::string enrolment::missing_text(time_point, ticket, parked const&) { return waiting_text(); }

std::string enrolment::waiting_text() const {
  if (options_.elastic) {
    auto const waiting = std::to_string(waiting_.size());
    if (concerns_.joins.job_has_started())
      return "processes waiting for an epoch with room for them: " + waiting;
    return waiting + " of at least " + std::to_string(options_.min_tasks) + " processes are there";
  }
  if (!is_before_start()) return "it is a spare: all tasks have a process, or expect their own";
  std::string const asking = "processes asking for a number: " + std::to_string(waiting_.size()) +
                             ", needed: " + std::to_string(vacant());
  if (!full_since_) return asking;
  return "the last call for spares is open for " + in_words(options_.last_call) + "; " + asking;
}

void enrolment::check(ticket who, parked const& p) const {
  invariant(waiting_.at(p.number).who == who, "who waits for a number has asked for one");
}

void enrolment::check_invariants() const {
  invariant(!alarm_.armed() || full_since_ || !coming_back_.empty(),
            "the enrolment waits for something");
  invariant(waiting_.empty() || (!error_ && !kernel_.stopping),
            "nobody waits for a number once the job has failed");
  invariant(!full_since_ || is_before_start(), "the last call precedes the start");
  for (auto const& [id, _] : coming_back_) {
    auto const state = roster_.at(id).state;
    invariant(state == task_state::failed || state == task_state::never_connected,
              "only the number of a task that has failed is kept");
  }
  std::size_t named = 0;
  for (auto const& [id, known] : members_) {
    if (known.name.empty()) continue;
    ++named;
    auto const at = numbers_.find(known.name);
    invariant(at != numbers_.end() && at->second == id, "a member has one number");
  }
  invariant(named == numbers_.size(), "a number of a member is known");
}

status enrolment::admissible(call const& c, join_args const& args) const {
  if (c.by.guest_of) return fail<&reasons::guest_cannot_enrol>();
  if (args.member.size() > options_.label_bytes_max) {
    return fail_as<&reasons::too_long>(errc::invalid_argument, "member's name", args.member.size(),
                                       "label_bytes_max", options_.label_bytes_max);
  }
  if (args.placement.size() > placement_parts_max ||
      bytes_of(args.placement) > options_.label_bytes_max) {
    return fail<&reasons::placement_is_too_large>(placement_parts_max, options_.label_bytes_max);
  }
  return {};
}

void enrolment::enrol(call const& c, join_args& args) {
  if (status why = admissible(c, args); !why.ok()) return calls_.refuse(c, std::move(why));
  if (error_) return calls_.refuse(c, kernel_.job_failed(errc::aborted));
  for (task_id const id : c.by.tasks) {
    bool const is_same = options_.elastic && roster_.at(id).self == args.self;
    if (is_same) return concerns_.joins.join({c.now, c.from, c.by, id, c.what}, args);
  }
  auto const at = numbers_.find(args.member);
  bool const is_known = at != numbers_.end();
  if (is_known && (!options_.elastic || roster_.at(at->second).is_connected())) {
    return concerns_.joins.join({c.now, c.from, c.by, at->second, c.what}, args);
  }
  if (job_is_over()) return calls_.refuse<&reasons::job_is_over>(c);
  if (concerns_.ends.is_draining()) return calls_.refuse(c, concerns_.ends.refusal(c.now));
  replace_older(args, kernel::label_of(c.by));
  if (waiting_.size() >= std::size_t{vacant()} + options_.spares)
    return calls_.refuse<&reasons::too_many_spares>(c, options_.spares);
  if (status why = kernel_.room_to_wait(c.by, kernel::memory_per_request); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  duration const timeout = args.timeout;
  add(++last_, {c.from, std::move(args), c.now});
  calls_.park(c, *this, {last_, {}}, timeout);
  look_again_ = true;
  kernel_.log(severity::info, event_kind::joining,
              kernel_.whose(c.by) + " asks for a number: " + waiting_text());
}

// One process that asks as a member replaces another that waits as the same.
void enrolment::replace_older(join_args const& by, std::string const& label) {
  auto const at = names_.find(by.member);
  if (at == names_.end()) return;
  applicant const& older = waiting_.at(at->second);
  bool const is_newer = older.asked.self != by.self;
  calls_.answer_parked(ticket{older.who},
                       calls_.share(is_newer ? fail<&reasons::newer_member_joins>(label, by.member)
                                             : fail<&reasons::member_superseded>()));
}

void enrolment::forget_member(task_id id) {
  auto const at = members_.find(id);
  if (at == members_.end()) return;
  memory_.subtract(cost(at->second));
  if (!at->second.name.empty()) numbers_.erase(at->second.name);
  members_.erase(at);
}

void enrolment::entered(task_id id, join_args const& args, bool is_guest) {
  if (coming_back_.erase(id) > 0 && coming_back_.empty()) arm();
  if (is_guest) return;
  forget_member(id);
  if (!args.any && args.member.empty()) return;
  if (auto const at = numbers_.find(args.member); at != numbers_.end()) {
    forget_member(at->second);
  }
  member known{args.member, args.placement, args.any};
  memory_.add(cost(known));
  if (!known.name.empty()) numbers_.emplace(known.name, id);
  members_.emplace(id, std::move(known));
}

bool enrolment::has_enrolled(task_id id) const {
  auto const at = members_.find(id);
  return at != members_.end() && at->second.enrolled;
}

void enrolment::send_number(ticket who, task_id id, bool already_started) {
  kernel_.tally.count_request(operation_id<join_args>, errc::ok);
  join_answer joined{already_started, id, {}};
  if (options_.elastic) joined.epoch = concerns_.epochs.answer_for(id);
  sessions_.hand_over(who, calls_.share(std::move(joined)), index(),
                      std::to_string(who.session.value));
}

void enrolment::vacated(time_point now, task_id id) {
  bool const is_kept =
      !options_.elastic && options_.come_back > 0s && !concerns_.ends.is_draining();
  if (not_received_.contains(id) || !is_kept) return;
  coming_back_.insert_or_assign(id, kernel_.alive_since(now));
  // Later ones have later deadlines.
  if (full_since_ || !alarm_.armed()) arm();
}

void enrolment::time_due(time_point now) {
  std::erase_if(coming_back_, [&](auto const& entry) {
    return kernel_.credited(entry.second, options_.come_back) <= now;
  });
  arm();
  look_again_ = true;
  follow_up(now);
}

void enrolment::arm() {
  auto next = time_point::max();
  if (full_since_) next = kernel_.credited(*full_since_, options_.last_call);
  // Once it is over, only the connections of those that have asked are missing.
  if (next <= kernel_.observed()) next = time_point::max();
  for (auto const& [_, since] : coming_back_) {
    next = std::min(next, kernel_.credited(since, options_.come_back));
  }
  deadlines_.disarm(alarm_);
  if (next != time_point::max()) deadlines_.arm(alarm_, {next, due::enrolment});
}

bool enrolment::is_before_start() const {
  return !options_.elastic && !has_begun_ && !concerns_.joins.job_has_started() &&
         roster_.count(task_state::never_connected) > 0;
}

std::uint32_t enrolment::vacant() const {
  if (options_.elastic) return options_.num_tasks - roster_.count(task_state::connected);
  return roster_.count(task_state::never_connected) + roster_.count(task_state::failed);
}

// Whether failed tasks get another process. Not after the shutdown barrier. A task that named its
// number, in a job without spares, may come back, but the job does not wait for it.
bool enrolment::fills_numbers() const {
  if (roster_.count(task_state::left) > 0 && concerns_.leaves.leaves_together()) return false;
  if (!waiting_.empty() && roster_.count(task_state::failed) > 0) return true;
  return std::any_of(coming_back_.begin(), coming_back_.end(), [this](auto const& entry) {
    return options_.spares > 0 || members_.contains(entry.first);
  });
}

bool enrolment::job_is_over() const {
  bool const is_anybody_here =
      roster_.count(task_state::connected) + roster_.count(task_state::joining) > 0;
  if (is_anybody_here || error_ || concerns_.ends.is_draining()) return !is_anybody_here;
  if (options_.elastic) return roster_.count(task_state::left) == roster_.size();
  return roster_.count(task_state::never_connected) + roster_.count(task_state::returning) == 0 &&
         !fills_numbers();
}

void enrolment::follow_up(time_point now) {
  not_received_.clear();
  bool const is_new = std::exchange(seen_, roster_.version()) != roster_.version();
  if (!std::exchange(look_again_, false) && !is_new) return;
  if (job_is_over()) {
    end_all(calls_.share(fail<&reasons::job_is_over>()));
  } else if (options_.elastic) {
    concerns_.epochs.look_again();
  } else if (is_before_start()) {
    start(now);
  } else {
    if (std::exchange(full_since_, std::nullopt)) arm();
    promote(now);
  }
  seen_ = roster_.version();
  look_again_ = false;
}

enrolment::numbers enrolment::connected() const {
  numbers found = all_waiting();
  std::erase_if(found, [this](std::uint64_t number) { return !is_connected(number); });
  return found;
}

std::vector<std::uint64_t> enrolment::all_waiting() const {
  numbers all;
  for (auto const& [number, _] : waiting_) all.push_back(number);
  return all;
}

std::string enrolment::who(std::uint64_t number) const {
  applicant const& waiting = waiting_.at(number);
  if (!waiting.asked.member.empty()) return waiting.asked.member;
  return kernel::label_of(*sessions_.find(waiting.who.session));
}

bool enrolment::is_connected(std::uint64_t number) const {
  return sessions_.find(waiting_.at(number).who.session)->attached != connection_id{};
}

// As numbers are assigned at the start.
void enrolment::sort(numbers& all) const {
  auto const key = [this](std::uint64_t number) {
    join_args const& asked = waiting_.at(number).asked;
    bool const by_placement = options_.assign == assignment::placement;
    bool const by_member = options_.assign != assignment::order;
    return std::tuple{by_placement ? asked.placement : std::vector<std::string>{},
                      by_member ? asked.member : std::string{}, number};
  };
  std::sort(all.begin(), all.end(),
            [&](std::uint64_t a, std::uint64_t b) { return key(a) < key(b); });
}

// Gives all vacant numbers, once there are enough processes and the last call is over.
void enrolment::start(time_point now) {
  std::size_t const needed = vacant();
  if (waiting_.size() < needed) {
    if (std::exchange(full_since_, std::nullopt)) arm();
    return;
  }
  if (!full_since_) full_since_ = kernel_.alive_since(now);
  numbers all = connected();
  bool const is_over = kernel_.credited(*full_since_, options_.last_call) <= now;
  if (all.size() < needed + (is_over ? 0 : options_.spares)) return arm();
  full_since_.reset();
  has_begun_ = true;
  arm();
  sort(all);
  auto next = all.begin();
  for (std::uint32_t i = 0; i < roster_.size() && next != all.end(); ++i) {
    auto const state = roster_.at(task_id{i}).state;
    bool const is_vacant = state == task_state::never_connected || state == task_state::failed;
    if (is_vacant) give(now, *next++, task_id{i});
  }
}

// Gives the numbers of tasks that have failed and do not come back.
void enrolment::promote(time_point now) {
  if (waiting_.empty() || vacant() <= coming_back_.size()) return;
  numbers among = connected();
  for (std::uint32_t i = 0; i < roster_.size() && !among.empty(); ++i) {
    task_id const id{i};
    auto const state = roster_.at(id).state;
    bool const is_vacant = state == task_state::never_connected || state == task_state::failed;
    if (!is_vacant || coming_back_.contains(id)) continue;
    std::uint64_t const best = best_for(id, among);
    std::erase(among, best);
    give(now, best, id);
  }
}

// Of those that run nearest to the last process of the task, the one that waits longest.
std::uint64_t enrolment::best_for(task_id id, numbers const& among) const {
  auto const last = members_.find(id);
  if (last == members_.end()) return among.front();
  auto const nearness = [&](std::uint64_t number) {
    return common_parts(last->second.placement, waiting_.at(number).asked.placement);
  };
  return *std::max_element(among.begin(), among.end(), [&](std::uint64_t a, std::uint64_t b) {
    return nearness(a) < nearness(b);
  });
}

void enrolment::give(time_point now, std::uint64_t number, task_id id) {
  applicant waiting = waiting_.at(number);
  waiting.asked.timeout = time_left(*calls_.release(waiting.who), waiting.asked.timeout, now);
  session& by = *sessions_.find(waiting.who.session);
  if (concerns_.joins.job_has_started() && !options_.elastic) {
    kernel_.log(severity::warning, event_kind::joining,
                "a spare, " + kernel_.whose(by) + ", becomes task " + std::to_string(id.value), id);
  }
  concerns_.joins.enter({now, waiting.who, by, id, operation_id<join_args>}, waiting.asked);
}

std::string enrolment::member_of(task_id id) const {
  auto const at = members_.find(id);
  return at == members_.end() ? std::string{} : at->second.name;
}

std::optional<task_id> enrolment::task_of(std::string const& member) const {
  auto const at = numbers_.find(member);
  return at == numbers_.end() ? std::nullopt : std::optional{at->second};
}

std::string enrolment::host_of(task_id id, origin const& from) const {
  auto const at = members_.find(id);
  return host_in(at == members_.end() ? std::vector<std::string>{} : at->second.placement, from);
}

std::string const& enrolment::name_of(std::uint64_t number) const {
  return waiting_.at(number).asked.member;
}

std::string enrolment::host_of(std::uint64_t number) const {
  applicant const& waiting = waiting_.at(number);
  return host_in(waiting.asked.placement, sessions_.find(waiting.who.session)->from);
}

std::vector<std::uint64_t> enrolment::in_order(bool at_start) const {
  numbers all = connected();
  if (at_start) {
    sort(all);
  } else {
    std::stable_partition(all.begin(), all.end(), [this](std::uint64_t number) {
      return numbers_.contains(name_of(number));
    });
  }
  return all;
}

std::optional<time_point> enrolment::begins_at() const {
  if (!full_since_ || options_.last_call == without_limit) return std::nullopt;
  return kernel_.credited(*full_since_, options_.last_call);
}

bool enrolment::has_lost_connection() const { return connected().size() < waiting_.size(); }

void enrolment::renumber(std::map<task_id, task_id> const& moved) {
  arm();
  std::map<task_id, member> all;
  for (auto& [id, known] : std::exchange(members_, {})) {
    if (auto const at = moved.find(id); at != moved.end()) {
      if (!known.name.empty()) numbers_.at(known.name) = at->second;
      all.emplace(at->second, std::move(known));
    } else {
      memory_.subtract(cost(known));
      if (!known.name.empty()) numbers_.erase(known.name);
    }
  }
  members_ = std::move(all);
}

// The coordinator waits a moment for their acknowledgement, as for that of a leave.
void enrolment::end_all(answer_ptr const& what) {
  while (!waiting_.empty()) {
    ticket const who = waiting_.begin()->second.who;
    forget(waiting_.begin());
    calls_.unpark(who);
    kernel_.tally.count_request(operation_id<join_args>, what->outcome.code());
    sessions_.reply(who, what, true, true);
  }
}

void enrolment::show(time_point now, snapshot& in) const {
  in.spares_waiting = waiting_.size();
  for (auto const& [_, waiting] : waiting_) {
    if (in.spares.size() == shown_max) break;
    session const& by = *sessions_.find(waiting.who.session);
    in.spares.push_back({waiting.asked.member, by.from.label(), by.from.peer(), now - waiting.since,
                         by.attached == connection_id{}});
  }
}

}  // namespace coxswain::core
