#include "coxswain/core/observe/headline.hpp"

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/observe/pace.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>

namespace coxswain::core {
namespace {

constexpr duration missing_soon_after = 2s;
constexpr duration missing_anyway_after = 10s;

// A host is slow if the others wait this long for it, and a third of each step.
constexpr duration slow_min = 50ms;
constexpr std::int64_t slow_part = 3;

constexpr std::size_t message_bytes_max = 300;
constexpr std::size_t names_max = 8;
constexpr std::size_t name_bytes_max = 64;

std::int64_t seconds_in(duration d) {
  return std::chrono::floor<std::chrono::seconds>(std::max(d, duration::zero())).count();
}

// Ages need no more digits: "14 s", "12 min", "3 h".
std::string age_text(duration d) {
  std::int64_t const s = seconds_in(d);
  if (s < 120) return std::to_string(s) + " s";
  return s < 7200 ? std::to_string(s / 60) + " min" : std::to_string(s / 3600) + " h";
}

// "45 s", "4:45", "1:04:45".
std::string countdown_text(duration d) {
  std::int64_t const s = seconds_in(d);
  if (s < 60) return std::to_string(s) + " s";
  auto const two_digits = [](std::int64_t n) { return (n < 10 ? ":0" : ":") + std::to_string(n); };
  if (s < 3600) return std::to_string(s / 60) + two_digits(s % 60);
  return std::to_string(s / 3600) + two_digits(s / 60 % 60) + two_digits(s % 60);
}

std::string with_tenths(std::int64_t tenths) {
  std::string const whole = std::to_string(tenths / 10);
  return tenths >= 100 || tenths % 10 == 0 ? whole : whole + "." + std::to_string(tenths % 10);
}

std::string step_text(duration d) {
  return d < 100ms ? in_words(d) : with_tenths(d / 100ms) + " s";
}

// "killed by signal 9" is an end of the process, and "no heartbeat for 2 s" is not. The kernel
// kills with SIGKILL what takes too much memory, and says so in its log, on the host of the
// process.
std::string failure_text(failure const& cause, std::string_view host) {
  std::string what = shortened(cause.why.message(), message_bytes_max);
  std::replace_if(
      what.begin(), what.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  if (what.empty()) what = name(cause.why.code());
  if (!cause.task) return what;
  std::string const who = "task " + std::to_string(cause.task->value);
  if (what.starts_with(who + " ")) return what;
  if (what == "killed by signal 9 (SIGKILL)") {
    what += " (out of memory? ";
    if (!host.empty()) what += "on " + shortened(host, name_bytes_max) + ": ";
    what += "dmesg | grep -i oom)";
  }
  if (what.starts_with("killed by ")) return who + " was " + what;
  return who + (what.starts_with("exited with ") ? " " : " failed: ") + what;
}

}  // namespace

duration missing_after(std::size_t arrived, std::size_t expected) noexcept {
  return 2 * arrived >= expected ? missing_soon_after : missing_anyway_after;
}

headline::headline(concerns const& all, time_point now, std::uint64_t& steps,
                   wait_graph const* with)
    : all_{all},
      kernel_{all.kernel},
      roster_{all.kernel.roster},
      now_{now},
      steps_{steps},
      with_{with} {}

job_state headline::state() const {
  using look = maybe (headline::*)() const;
  constexpr std::array<look, 13> worst_first{&headline::failed,
                                             &headline::over,
                                             &headline::stopped,
                                             &headline::deadlocked,
                                             &headline::waits_at_meeting,
                                             &headline::waits_for_connection,
                                             &headline::waits_for_progress,
                                             &headline::draining,
                                             &headline::nothing_joined,
                                             &headline::gathers_processes,
                                             &headline::gathers_tasks,
                                             &headline::waits_for_next_process,
                                             &headline::slow};
  for (look const each : worst_first) {
    auto found = (this->*each)();
    if (!found) continue;
    bool const is_worse = found->what == kind::deadlock || found->what == kind::waiting;
    if (is_worse && all_.ends.is_draining()) {
      found->headline += "; draining since " + second_of(all_.ends.draining_since());
    }
    return *std::move(found);
  }
  return running();
}

std::string headline::second_of(time_point at) const {
  std::string const moment = kernel_.moment(now_, at);
  return moment.substr(0, moment.rfind('.'));
}

job_state headline::found(kind what, std::string text, std::optional<time_point> since,
                          std::vector<task_id> const& tasks) const {
  job_state made{what, std::move(text), std::nullopt, {}, 0};
  if (since) made.since = kernel_.options.started.plus(*since - kernel_.started);
  task_ranges named = ranges(tasks);
  made.tasks = std::move(named.text);
  made.tasks_cut = named.cut;
  return made;
}

template <class Is>
std::vector<task_id> headline::tasks_that(Is is) const {
  std::vector<task_id> those;
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    if (is(roster_.at(task_id{i}))) those.push_back(task_id{i});
  }
  return those;
}

std::optional<time_point> headline::time_of(event_kind kind) const {
  auto const event = kernel_.event_log.latest(kind);
  if (!event) return std::nullopt;
  return kernel_.started + event->at;
}

headline::maybe headline::failed() const {
  if (!kernel_.error) return std::nullopt;
  failure const& cause = kernel_.error->cause;
  auto const at = time_of(event_kind::job_failed);
  std::string const when = at ? " at " + second_of(*at) : std::string{};
  std::vector<task_id> blamed;
  if (cause.task) blamed.push_back(*cause.task);
  std::string const host = cause.task ? host_of(*cause.task) : std::string{};
  return found(kind::failed, "Failed" + when + ": " + failure_text(cause, host), at, blamed);
}

headline::maybe headline::over() const {
  if (!all_.enrolment.job_is_over()) return std::nullopt;
  return found(kind::over, "Over", time_of(event_kind::left));
}

headline::maybe headline::stopped() const {
  if (!kernel_.stopping) return std::nullopt;
  auto const event = kernel_.event_log.latest(event_kind::stopping);
  if (!event) return found(kind::stopped, "Stopped", std::nullopt);
  constexpr std::string_view before = "stopping: ";
  std::string_view const reason = std::string_view{event->what.text}.substr(before.size());
  return found(kind::stopped,
               (reason.starts_with("by ") ? "Stopped " : "Stopped: ") + std::string{reason},
               kernel_.started + event->at);
}

headline::maybe headline::deadlocked() const {
  auto known = all_.why.known_deadlock(now_, with_, steps_);
  if (!known) return std::nullopt;
  known->text.front() = 'D';
  return found(kind::deadlock, std::move(known->text), known->since, known->tasks);
}

bool headline::is_overdue(meeting const& m) const {
  return m.is_open() && now_ - m.opened() >= missing_after(m.arrived(), m.expected().size()) &&
         !all_.missing.from(m).empty();
}

// The one that has been open the longest.
headline::maybe headline::waits_at_meeting() const {
  meeting const* longest = nullptr;
  std::string where;
  auto const consider = [&](meeting const& m, std::string_view at, std::string const* name) {
    if (!m.is_open() || (longest && longest->opened() <= m.opened()) || !is_overdue(m)) return;
    longest = &m;
    where = name ? std::string{at} + in_quotes(*name) : std::string{at};
  };
  for (auto const& [_, b] : all_.barriers.all().open_rounds()) {
    if (longest || now_ - b->round.opened() < missing_soon_after) break;
    consider(b->round, "at barrier ", &b->name);
  }
  for (auto const& [platform, x] : all_.topologies.all().all()) {
    if (!x.outcome) consider(x.waiting, "in topology exchange ", &platform);
  }
  consider(all_.leaves.together(), "in the shutdown barrier", nullptr);
  if (!longest) return std::nullopt;
  auto const missing = all_.missing.from(*longest);
  auto const expected = longest->expected().size();
  auto const arrived = expected - missing.size();
  return found(kind::waiting,
               "Waiting for " + in_words(missing) + ": " + std::to_string(arrived) + " of " +
                   std::to_string(expected) + (arrived == 1 ? " has been " : " have been ") +
                   where + " for " + age_text(now_ - longest->opened()) +
                   timeout_text(longest->deadline()),
               longest->opened(), missing);
}

std::string headline::timeout_text(time_point deadline) const {
  if (deadline == time_point::max()) return {};
  return " (times out in " + countdown_text(deadline - now_) + ")";
}

headline::maybe headline::waits_for_connection() const {
  auto const lost = tasks_that([this](task const& t) { return kernel_.is_suspect(t); });
  if (lost.empty()) return std::nullopt;
  std::optional<time_point> heard;
  for (task_id const id : lost) {
    auto const at = kernel_.last_heard(roster_.at(id));
    if (at && (!heard || *at < *heard)) heard = at;
  }
  std::string text = "Waiting for " + in_words(lost) +
                     (lost.size() == 1 ? ": its connection is" : ": their connections are") +
                     " lost";
  if (heard) text += ", last heard " + age_text(now_ - *heard) + " ago";
  return found(kind::waiting, std::move(text), heard, lost);
}

headline::maybe headline::waits_for_progress() const {
  auto const stalled = tasks_that(
      [](task const& t) { return t.is_connected() && t.progress && t.progress->reported; });
  if (stalled.empty()) return std::nullopt;
  progress const* longest = nullptr;
  for (task_id const id : stalled) {
    progress const& p = *roster_.at(id).progress;
    if (!longest || p.rose.since < longest->rose.since) longest = &p;
  }
  return found(kind::waiting,
               "Waiting for " + in_words(stalled) + ": no step for " +
                   age_text(now_ - longest->rose.since) + ", since step " +
                   std::to_string(longest->step),
               longest->rose.since, stalled);
}

headline::maybe headline::draining() const {
  if (!all_.ends.is_draining()) return std::nullopt;
  time_point const since = all_.ends.draining_since();
  auto const present = tasks_that([](task const& t) { return t.is_connected(); });
  return found(kind::draining,
               "Draining since " + second_of(since) + ": " + std::to_string(present.size()) +
                   (present.size() == 1 ? " task is" : " tasks are") + " still in it; by " +
                   all_.ends.drained_by(),
               since, present);
}

headline::maybe headline::nothing_joined() const {
  bool const has_none = roster_.count(task_state::never_connected) == roster_.size() &&
                        all_.enrolment.waiting() == 0 && !all_.joins.job_has_started();
  if (!has_none) return std::nullopt;
  std::string text = "Nothing has joined " + age_text(now_ - kernel_.started) + " after the start";
  // An elastic job waits for no task in particular.
  auto const missing = tasks_that([this](task const&) { return !kernel_.options.elastic; });
  return found(kind::not_started, std::move(text), kernel_.started, missing);
}

std::string headline::begins_text(std::optional<time_point> at) const {
  return at ? "; begins in " + countdown_text(*at - now_) : std::string{};
}

// "2 wait (b0, b1)"
std::string headline::applicants_text() const {
  auto const waiting = all_.enrolment.all_waiting();
  std::string text =
      std::to_string(waiting.size()) + (waiting.size() == 1 ? " waits (" : " wait (");
  for (std::size_t i = 0; i < std::min(waiting.size(), names_max); ++i) {
    text += (i == 0 ? "" : ", ") + shortened(all_.enrolment.who(waiting[i]), name_bytes_max);
  }
  if (waiting.size() > names_max) text += " and others";
  return text + ")";
}

headline::maybe headline::gathers_processes() const {
  auto const processes = [](std::uint32_t count) {
    return std::to_string(count) + (count == 1 ? " process, " : " processes, ");
  };
  if (auto const pause = all_.epochs.present_pause(now_)) {
    std::string const text =
        pause->last == 0
            ? "the first epoch needs " + processes(kernel_.options.min_tasks) + applicants_text()
            : "epoch " + std::to_string(pause->last) + " is over: " + pause->text;
    return found(kind::gathering, "Gathering: " + text + begins_text(pause->begins_at),
                 pause->since, pause->missing);
  }
  if (!all_.enrolment.is_gathering()) return std::nullopt;
  return found(kind::gathering,
               "Gathering: the job needs " + processes(roster_.count(task_state::never_connected)) +
                   applicants_text() + begins_text(all_.enrolment.begins_at()),
               kernel_.started);
}

headline::maybe headline::gathers_tasks() const {
  auto const missing =
      tasks_that([](task const& t) { return t.state == task_state::never_connected; });
  if (missing.empty()) return std::nullopt;
  if (all_.joins.job_has_started()) {
    return found(kind::waiting, "Waiting for " + in_words(missing) + " to join again", std::nullopt,
                 missing);
  }
  meeting const& join = all_.joins.together();
  auto const joined = roster_.size() - missing.size();
  return found(kind::gathering,
               "Gathering: " + std::to_string(joined) + " of " + std::to_string(roster_.size()) +
                   (joined == 1 ? " tasks has" : " tasks have") + " joined, " + in_words(missing) +
                   (missing.size() == 1 ? " is missing" : " are missing") +
                   (join.is_open() ? timeout_text(join.deadline()) : std::string{}),
               kernel_.started, missing);
}

headline::maybe headline::waits_for_next_process() const {
  auto const gone = tasks_that([](task const& t) { return t.state == task_state::returning; });
  if (gone.empty()) return std::nullopt;
  auto const at = kernel_.last_heard(roster_.at(gone.front()));
  return found(kind::waiting,
               "Waiting for " + in_words(gone) + " to return" +
                   (at ? ", for " + age_text(now_ - *at) : std::string{}),
               at, gone);
}

// "b12" of "jax 0.10, b12:3391" or "b12:3391".
std::string headline::host_of(task_id id) const {
  std::string host = all_.enrolment.host_of(id, kernel_.from_of(roster_.at(id)));
  auto const version = host.rfind(", ");
  return version == host.npos ? host : host.substr(version + 2);
}

bool headline::has_several_hosts() const {
  std::string const first = host_of(task_id{0});
  for (std::uint32_t i = 1; i < roster_.size(); ++i) {
    if (host_of(task_id{i}) != first) return true;
  }
  return false;
}

// In more than half of the last rounds the same host came last; or the same task, on one host.
headline::maybe headline::slow() const {
  auto const pace = pace_of(all_.barriers.ended().all(), now_ - kernel_.started);
  bool const is_waiting =
      pace && std::any_of(pace->last.begin(), pace->last.end(),
                          [](auto const& late) { return late.second >= slow_min; });
  if (!is_waiting) return std::nullopt;
  struct latecomer {
    std::vector<task_id> tasks;
    std::vector<duration> lags;
  };
  bool const by_host = has_several_hosts();
  std::map<std::string, latecomer> by_name;
  for (auto const& [id, lag] : pace->last) {
    if (!roster_.has(id)) continue;
    latecomer& one = by_name[by_host ? host_of(id) : "task " + std::to_string(id.value)];
    one.tasks.push_back(id);
    one.lags.push_back(lag);
  }
  for (auto& [name, one] : by_name) {
    duration const wait = median(one.lags);
    bool const is_slow = 2 * one.lags.size() > pace->last.size() && wait >= slow_min &&
                         slow_part * wait >= pace->step;
    if (!is_slow) continue;
    std::sort(one.tasks.begin(), one.tasks.end());
    one.tasks.erase(std::unique(one.tasks.begin(), one.tasks.end()), one.tasks.end());
    return found(kind::slow,
                 "Slow: waits for " + shortened(name, name_bytes_max) +
                     (by_host ? " (" + in_words(one.tasks) + ")" : std::string{}) + " " +
                     step_text(wait) + " of each " + step_text(pace->step) + " step",
                 kernel_.started + pace->began, one.tasks);
  }
  return std::nullopt;
}

job_state headline::running() const {
  std::string text = "Running";
  if (auto const pace = pace_of(all_.barriers.ended().all(), now_ - kernel_.started)) {
    text += pace->step > 1min ? " (one step in " + in_words(pace->step) + ")"
                              : " (" + with_tenths(600s / pace->step) + " steps per minute)";
  }
  auto const failed = tasks_that([](task const& t) { return t.state == task_state::failed; });
  if (!failed.empty()) {
    text += " without " + in_words(failed) + ", which failed";
  }
  return found(kind::running, std::move(text), time_of(event_kind::joined), failed);
}

}  // namespace coxswain::core
