// Watching: tasks and events, each as a request that waits for something newer (semantics D20).

#include "coxswain/core/state.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace coxswain::core {
namespace {

// Most who ask for the tasks get an answer that was made for another one: they cost its bytes.
constexpr std::size_t tasks_per_step = 4;

// An event is mostly text, which is copied and encoded.
constexpr std::size_t steps_per_event = 2;

status from_the_future(std::string const& what, std::uint64_t asked, std::uint64_t is) {
  return {errc::invalid_argument,
          what + " " + std::to_string(asked) + " was not reached yet: this coordinator is at " +
              std::to_string(is) + "; such numbers belong to one coordinator only"};
}

}  // namespace

// --- Tasks -----------------------------------------------------------------------------------

void coordinator::state::handle(call const& c, watch_tasks_args& args) {
  std::uint64_t const version = roster_.version();
  if (args.after > version) return refuse(c, from_the_future("version", *args.after, version));
  tally.steps += roster_.size() / tasks_per_step;  // who waits pays for what it will be told, too
  if (args.after != version) return answer_now(c, tasks_now(), false);
  watch(c, parked::place::tasks, watchers_of_tasks_, {c.from, version}, args.timeout);
}

void coordinator::state::watch(call const& c, parked::place where, watchers& among,
                               watchers::watcher w, duration timeout) {
  parked p;
  p.where = where;
  p.number = among.wait(w);
  arm_call(c, p, timeout);
  park(c, std::move(p));
}

// One version is made and encoded once for all who want it.
answer_ptr coordinator::state::tasks_now() {
  answer_ptr shown{tasks_shown_.lock()};
  if (shown && std::get<tasks_answer>(shown->value).version == roster_.version()) return shown;
  tasks_answer all;
  all.version = roster_.version();
  all.tasks.reserve(roster_.size());
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    all.tasks.push_back({task_id{i}, t.state, is_suspect(t), t.self, std::nullopt,
                         from_of(t).label(), from_of(t).peer(), t.error(), t.recoverable});
  }
  shown = share(std::move(all));
  tasks_shown_ = boost::shared_ptr<answer const>{shown};
  return shown;
}

void coordinator::state::tell_watchers_of_tasks() {
  std::vector<ticket> waiting;
  for (auto const& [_, w] : watchers_of_tasks_.all()) {
    waiting.push_back(w.who);
  }
  if (!waiting.empty()) answer_all(waiting, tasks_now());
}

// --- Events ----------------------------------------------------------------------------------

void coordinator::state::handle(call const& c, watch_events_args& args) {
  std::uint64_t const last = event_log_.last();
  if (args.after > last) return refuse(c, from_the_future("event", *args.after, last));
  bool const waits = args.after && event_log_.last(args.at_least) <= *args.after &&
                     event_log_.lost(*args.after, args.at_least) == 0;
  if (!waits) {
    auto found = event_log_.since(args.after, args.at_least, args.last);
    tally.steps += found.entries.size() * steps_per_event +
                   std::min<std::size_t>(args.last, event_log_.size()) / 16;
    return answer_now(c, share(std::move(found)), false);
  }
  watch(c, parked::place::events, watchers_of_events_, {c.from, last, args.at_least}, args.timeout);
}

void coordinator::state::tell_watchers_of_events() {
  std::map<std::pair<std::uint64_t, severity>, std::vector<ticket>> waiting;
  for (auto const& [_, w] : watchers_of_events_.all()) {
    if (event_log_.last(w.at_least) > w.seen) waiting[{w.seen, w.at_least}].push_back(w.who);
  }
  for (auto const& [what, who] : waiting) {
    answer_all(who, share(event_log_.since(what.first, what.second)));
  }
}

// --- Both ------------------------------------------------------------------------------------

void coordinator::state::follow_up() {
  tell_job_error();
  if (tasks_told_ != roster_.version()) {
    tasks_told_ = roster_.version();
    look_at_queries_again();
    tell_watchers_of_tasks();
  }
  if (events_told_ != event_log_.last()) {
    events_told_ = event_log_.last();
    tell_watchers_of_events();
  }
}

void coordinator::state::end_watches(status const& why) {
  std::vector<ticket> waiting;
  for (auto const* const all : {&watchers_of_tasks_, &watchers_of_events_}) {
    for (auto const& [_, w] : all->all()) waiting.push_back(w.who);
  }
  answer_all(waiting, share(why));
}

}  // namespace coxswain::core
