#include "tests/scenarios/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace coxswain::scenarios {
namespace {

std::string words(std::monostate) { return {}; }
std::string words(core::hello_answer const&) { return "hello"; }
std::string words(core::resume_answer const& a) {
  std::string text = "resumed; unknown:";
  for (request_id const id : a.unknown) text += " #" + std::to_string(id.value);
  return a.unknown.empty() ? "resumed" : text;
}
std::string words(core::epoch_answer const& e);
std::string words(core::join_answer const& a) {
  std::string const as = a.task ? " as task " + std::to_string(a.task->value) : "";
  if (a.epoch) return "joined " + words(*a.epoch);
  return (a.already_started ? "joined a running job" : "joined") + as;
}
std::string words(core::barrier_answer const& a) {
  std::string text = "round " + std::to_string(a.round.value);
  for (bytes const& b : a.data) text += " [" + std::string{b.view()} + "]";
  return text;
}
std::string words(barrier_failure const& f) {
  return "(round " + std::to_string(f.round.value) + ", " + std::to_string(f.arrived) + " of " +
         std::to_string(f.expected) + ", missing " + f.missing + ")";
}
std::string words(core::value_answer const& a) {
  std::string const taken =
      a.redeliveries ? ", redeliveries " + std::to_string(*a.redeliveries) : "";
  return "[" + std::string{a.value.view()} + "] version " + std::to_string(a.version) + taken;
}
std::string words(core::counter_answer const& a) { return std::to_string(a.value); }
std::string words(core::removed_answer const& a) { return "removed " + std::to_string(a.count); }
std::string words(core::listing_answer const& a) {
  std::string text = "lists";
  for (auto const& e : a.entries) text += " " + e.key + "=[" + std::string{e.value.view()} + "]";
  return text;
}
std::string words(core::stored_answer const& a) { return "version " + std::to_string(a.version); }
std::string words(core::count_answer const& a) { return std::to_string(a.count); }
std::string words(core::key_changes_answer const& a) {
  std::string text;
  for (auto const& c : a.changes) {
    text += c.key + (c.value ? "=[" + std::string{c.value->view()} + "] " : " removed ");
  }
  return text + "until version " + std::to_string(a.version);
}
std::string words(core::snapshot const&) { return "snapshot"; }
std::string words(core::goodbye const& g) {
  return "goodbye " + g.why.text() + (g.may_resume ? " (may resume)" : "");
}
std::string words(job_error const& e) {
  std::string text = "job error: ";
  if (e.cause.task) text += "task " + std::to_string(e.cause.task->value) + ": ";
  return text + e.cause.why.text() + "; " + std::to_string(e.later_count) + " later";
}
std::string words(core::barrier_progress const& p) {
  return "progress of #" + std::to_string(p.request.value) + ": " + std::to_string(p.arrived) +
         " of " + std::to_string(p.expected) + ", missing " + p.missing;
}
std::string words(core::waiting const& w) {
  return "#" + std::to_string(w.request.value) + " waits: " + w.text;
}
std::string words(core::epoch_answer const& e) {
  return "epoch " + std::to_string(e.number) + ": t" + std::to_string(e.rank.value) + " of " +
         std::to_string(e.size) + ", " + std::to_string(e.lost) + " lost, " +
         std::to_string(e.joined) + " joined";
}
std::string words(core::epoch_members_answer const& a) {
  std::string text = "members of epoch " + std::to_string(a.epoch) + ":";
  for (auto const& member : a.members) text += " " + member.name + (member.survivor ? "" : "(new)");
  return text;
}
std::string words(core::epoch_ends const& e) {
  return "epoch " + std::to_string(e.epoch) + " ends: " + e.text;
}
std::string words(core::probe const&) { return "to give a sign of life"; }
std::string words(core::stacks_wanted const& w) {
  std::string text = "to take the stacks of";
  for (auto const& each : w.processes) text += " t" + std::to_string(each.task.value);
  return text;
}
std::string words(core::stacks_answer const& a) {
  std::string text = a.complete ? "all stacks" : "stacks so far";
  for (auto const& g : a.groups) text += " | t" + g.tasks + (g.is_taken ? " in " : ": ") + g.stack;
  return text;
}
std::string words(core::freeze_request const& f) {
  return "to say where it is, for agreement " + std::to_string(f.agreement);
}
std::string words(core::sync_point const& p) {
  return "all stop at step " + std::to_string(p.step);
}
std::string words(core::alive_answer const& a) {
  std::string text = "alive:";
  for (auto const& task : a.tasks) {
    text += " t" + std::to_string(task.id.value) + "=" + std::to_string(task.self.value);
  }
  return text;
}
std::string words(core::tasks_answer const& a) {
  std::string text = "version " + std::to_string(a.version) + ":";
  for (auto const& task : a.tasks) {
    text += " t" + std::to_string(task.id.value) + " " +
            (task.suspect ? "suspect" : std::string{name(task.state)}) + ",";
  }
  text.pop_back();
  return text;
}
std::string words(core::events_answer const& a) {
  std::string text = "events through " + std::to_string(a.through) + ":";
  for (auto const& entry : a.entries) text += " [" + entry.what.text + "]";
  return text;
}
std::string words(core::why_answer const& a) {
  constexpr std::array kinds{"barrier",           "count barrier", "join",       "leave",
                             "topologies of",     "alive",         "preemption", "get of",
                             "get of all, first", "pop of",        "lock"};
  static_assert(kinds.size() == static_cast<std::size_t>(core::why_answer::last_kind) + 1);
  std::string text = a.stuck.empty() ? "no deadlock" : a.stuck;
  for (auto const& w : a.waits) {
    text += std::string{" | "} + kinds.at(static_cast<std::size_t>(w.what));
    if (!w.name.empty()) text += " " + w.name;
    text += ": " + (w.waiting.empty() ? "observers" : "t" + w.waiting) + (w.stuck ? " stuck" : "");
    if (!w.missing) continue;
    text += ", missing " + w.missing->missing;
    for (auto const& m : w.missing->known) {
      if (m.step) text += ", at step " + std::to_string(*m.step);
      if (!m.waits_for.empty()) text += ", which waits for " + m.waits_for;
      if (m.answers) text += ", answers";
      if (m.unanswered) text += ", silent for " + in_words(*m.unanswered);
      if (!m.last_call.empty()) text += ", last call " + m.last_call;
    }
  }
  return text;
}
std::string words(core::global_topology const& t) {
  std::string text = "devices:";
  for (std::size_t i = 0; i < t.tasks.size(); ++i) {
    text += " t" + std::to_string(i) + " has";
    for (auto const& device : t.tasks[i].devices) {
      text += " " + std::to_string(device.global_id) + "/" + std::to_string(device.partition);
    }
    text += ",";
  }
  text.pop_back();
  return text;
}

std::optional<core::request> key_request_of(std::vector<std::string> const& words) {
  std::string const& verb = words[0];
  if (verb == "put") {
    return core::put_args{word(words, 1), word(words, 2), words.size() > 3, false};
  }
  if (verb == "get") return core::get_args{word(words, 1), timeout_of(words, 2)};
  if (verb == "put-all" || verb == "put-all!") {
    core::put_all_args args{.overwrite = verb == "put-all!"};
    for (std::size_t i = 1; i < words.size(); ++i) {
      auto const equals = words[i].find('=');
      args.entries.push_back({words[i].substr(0, equals), words[i].substr(equals + 1)});
    }
    return args;
  }
  if (verb == "get-all") {
    core::get_all_args args{{words.begin() + 2, words.end()}, duration_of(word(words, 1))};
    return args;
  }
  if (verb == "try-get") return core::try_get_args{word(words, 1)};
  if (verb == "list") return core::list_args{words.size() > 1 ? words[1] : ""};
  if (verb == "remove") return core::remove_args{word(words, 1)};
  if (verb == "remove-tree") return core::remove_tree_args{word(words, 1), words.size() > 2};
  if (verb == "increment") return core::increment_args{word(words, 1), std::stoll(word(words, 2))};
  if (verb == "owns") return core::put_args{word(words, 1), word(words, 2), false, true};
  if (verb == "swaps-version") {
    return core::compare_and_set_args{word(words, 1), word(words, 3), std::stoull(word(words, 2)),
                                      false};
  }
  if (verb == "swaps") {
    core::compare_and_set_args args{word(words, 1), word(words, 3), word(words, 2), false};
    if (word(words, 2) == "absent") args.expected = core::absent_value{};
    return args;
  }
  if (verb == "append") return core::append_args{word(words, 1), word(words, 2)};
  if (verb == "count-keys") return core::count_keys_args{words.size() > 1 ? words[1] : ""};
  if (verb == "push") return core::push_args{word(words, 1), word(words, 2)};
  if (verb == "pop") return core::pop_args{word(words, 1), timeout_of(words, 2)};
  if (verb == "take") {
    return core::take_args{word(words, 1), timeout_of(words, 3), duration_of(word(words, 2))};
  }
  if (verb == "finish" || verb == "release" || verb == "extend") {
    core::update_lease_args args{std::stoull(word(words, 1)),
                                 static_cast<std::uint32_t>(std::stoul(word(words, 2)))};
    if (verb == "release") args.change = core::lease_change::release;
    if (verb == "extend") {
      args.change = core::lease_change::extend;
      args.lease = duration_of(word(words, 3));
    }
    return args;
  }
  if (verb == "lock") return core::lock_args{word(words, 1), timeout_of(words, 2)};
  if (verb == "try-lock") return core::try_lock_args{word(words, 1)};
  if (verb == "unlock") return core::unlock_args{word(words, 1), std::stoull(word(words, 2))};
  if (verb == "watch") {
    core::watch_keys_args args{.directory = word(words, 1)};
    if (words.size() > 2) args.after = std::stoull(words[2]);
    args.timeout = words.size() > 3 ? duration_of(words[3]) : without_limit;
    return args;
  }
  return std::nullopt;
}

std::optional<core::request> task_request_of(std::vector<std::string> const& words) {
  std::string const& verb = words[0];
  if (verb == "watch-tasks" || verb == "watch-warnings") {
    std::optional<std::uint64_t> after;
    if (words.size() > 1) after = std::stoull(words[1]);
    if (verb == "watch-tasks") return core::watch_tasks_args{after, without_limit};
    return core::watch_events_args{after, core::severity::warning, without_limit};
  }
  if (verb == "who-is-there") {
    core::alive_args args{.timeout = timeout_of(words, 1)};
    for (std::size_t i = 2; i < words.size(); ++i) args.tasks.push_back(*task_of(words[i]));
    return args;
  }
  if (verb == "brings") {
    core::exchange_topology_args args{.platform = word(words, 1)};
    args.mine.boot_id = word(words, 2);
    args.mine.devices.resize(std::stoul(word(words, 3)));
    for (std::size_t i = 0; i < args.mine.devices.size(); ++i) {
      args.mine.devices[i].ordinal = static_cast<std::int32_t>(i);
    }
    args.timeout = timeout_of(words, 4);
    return args;
  }
  return std::nullopt;
}

}  // namespace

duration duration_of(std::string_view text) {
  if (text == "for-ever") return without_limit;
  std::size_t used = 0;
  double const count = std::stod(std::string{text}, &used);
  std::string_view const unit = text.substr(used);
  double const nanoseconds = unit == "ms"    ? 1e6
                             : unit == "s"   ? 1e9
                             : unit == "min" ? 60e9
                             : text == "0"   ? 0
                                             : throw std::runtime_error{"a duration has no unit"};
  return duration{std::llround(count * nanoseconds)};
}

std::optional<errc> code_named(std::string_view text) {
  for (std::uint32_t i = 0; i <= static_cast<std::uint32_t>(errc::unauthenticated); ++i) {
    if (name(errc_of(i)) == text) return errc_of(i);
  }
  return std::nullopt;
}

std::string word(std::vector<std::string> const& words, std::size_t index) {
  if (index >= words.size()) throw std::runtime_error{"a word is missing"};
  return words[index];
}

duration timeout_of(std::vector<std::string> const& words, std::size_t index) {
  return index < words.size() ? duration_of(words[index]) : core::timeout_default;
}

std::optional<task_id> task_of(std::string_view name) {
  bool const is_task =
      name.size() > 1 && name[0] == 't' && name.find_first_not_of("0123456789", 1) == name.npos;
  if (!is_task) return std::nullopt;
  return task_id{static_cast<std::uint32_t>(std::stoul(std::string{name.substr(1)}))};
}

std::string in_words(duration d) {
  std::ostringstream out;
  out << std::chrono::duration<double>(d).count() << "s";
  return out.str();
}

std::string in_words(core::answer const& a) {
  std::string const value = std::visit([](auto const& v) { return words(v); }, a.value);
  if (a.outcome.ok() && !value.empty()) return "OK " + value;
  return a.outcome.text() + (value.empty() ? "" : " " + value);
}

std::optional<core::request> request_of(std::vector<std::string> const& words) {
  std::string const& verb = words[0];
  if (verb == "hello" || verb == "alive") return std::monostate{};
  if (verb == "joins") {
    std::uint64_t const self = words.size() > 1 ? std::stoull(words[1]) : 100;
    core::join_args args{incarnation{self}, timeout_of(words, 2)};
    auto const is_said = [&](auto what) { return std::ranges::count(words, what) > 0; };
    if (is_said("recoverable")) args.recoverable = true;
    if (is_said("not-recoverable")) args.recoverable = false;
    args.take_over = is_said("takes-over");
    args.with_hello = is_said("with-hello");
    args.is_jax = is_said("jax");
    return args;
  }
  if (verb == "members") return core::epoch_members_args{};
  if (verb == "resizes") {
    return core::resize_args{static_cast<std::uint32_t>(std::stoul(word(words, 1)))};
  }
  if (verb == "drains" || verb == "stops") {
    auto const how = verb == "stops" ? core::job_end::stop : core::job_end::drain;
    return core::end_job_args{how, words.size() > 1 ? words[1] : ""};
  }
  if (verb == "takes-over") {
    return core::join_args{incarnation{std::stoull(word(words, 1))}, core::timeout_default, true,
                           true};
  }
  if (verb == "resets") return core::reset_args{incarnation{std::stoull(word(words, 1))}};
  if (verb == "leaves") {
    bool const returning = words.size() > 1 && words[1] == "returning";
    return core::leave_args{timeout_of(words, returning ? 2 : 1), returning};
  }
  if (verb == "bye") return core::bye_args{word(words, 1) == "abandoned"};
  if (verb == "cancels-call") return core::cancel_args{request_id{std::stoull(word(words, 1))}};
  if (verb == "asks-about") return core::ask_waiting_args{request_id{std::stoull(word(words, 1))}};
  if (verb == "reports") {
    auto const code = words.size() > 2 ? code_named(words[2]).value() : errc::internal;
    return core::report_error_args{{code, word(words, 1)}};
  }
  if (verb == "barrier" || verb == "gather") {
    core::barrier_args b{.name = word(words, 1), .gather = verb == "gather"};
    std::size_t next = 2;
    if (b.gather) b.data = word(words, next++);
    b.timeout = timeout_of(words, next++);
    for (; next < words.size(); ++next) {
      if (words[next] == "fail_when_lost") {
        b.fail_when_lost = true;
      } else if (words[next].starts_with("progress=")) {
        b.progress_every = duration_of(words[next].substr(9));
      } else {
        b.participants.push_back(*task_of(words[next]));
      }
    }
    return b;
  }
  if (verb == "cancels") {
    core::cancel_barrier_args args{word(words, 1), {}};
    if (words.size() > 2) args.round = round_number{std::stoull(words[2])};
    return args;
  }
  if (verb == "counts") {
    auto const count = static_cast<std::uint32_t>(std::stoul(word(words, 2)));
    return core::count_barrier_args{word(words, 1), count, timeout_of(words, 3)};
  }
  if (verb == "preempts") {
    auto const task = static_cast<std::uint32_t>(std::stoul(word(words, 1)));
    return core::preempt_args{task_id{task}, duration_of(word(words, 2))};
  }
  if (verb == "is-at") {
    return core::frozen_args{std::stoull(word(words, 1)), std::stoull(word(words, 2))};
  }
  if (verb == "abstains") return core::frozen_args{std::stoull(word(words, 1)), 0, true};
  if (verb == "grants") return core::grant_args{secret_of_grants};
  if (verb == "ends-grant") return core::grant_args{};
  if (verb == "reaches") return core::frozen_args{0, std::stoull(word(words, 1))};
  if (verb == "is-at-step") return core::report_progress_args{std::stoull(word(words, 1))};
  if (verb == "asks-why") return core::why_args{};
  if (verb == "takes-stacks") return core::stacks_args{};
  if (auto const of_keys = key_request_of(words)) return of_keys;
  return task_request_of(words);
}

}  // namespace coxswain::scenarios
