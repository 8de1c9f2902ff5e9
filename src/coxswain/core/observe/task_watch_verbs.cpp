#include "coxswain/core/observe/task_watch_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"

#include <utility>

namespace coxswain::core {
namespace {

// Most watches share an answer made for another one: they cost only its bytes.
constexpr std::size_t watching_tasks_per_step = 4;

}  // namespace

task_watch_verbs::task_watch_verbs(concerns& all)
    : waiting_concern{
          all,
          {operation_id<watch_tasks_args>, std::nullopt, wait_traits::party::session, false}} {}

void task_watch_verbs::stopping(time_point, status const& why) {
  calls_.answer_all(watchers_.tickets(), calls_.share(status{errc::unavailable, why.message()}));
}

void task_watch_verbs::cancel(ticket, parked const& p) { watchers_.cancel(p.number); }

// For a watch, "no change" is a regular reply.
answer_ptr task_watch_verbs::overdue(time_point, parked const&) { return tasks_now(); }

std::size_t task_watch_verbs::waiting() const { return watchers_.all().size(); }

void task_watch_verbs::check(ticket who, parked const& p) const {
  auto const& w = watchers_.all().at(p.number);
  invariant(w.who == who, "a watcher waits");
  invariant(w.seen == roster_.version(), "who watches the tasks has seen them as they are");
}

bool task_watch_verbs::follow_up() {
  if (shown_ && shown_->use_count() == 1) shown_.reset();
  if (answered_ == roster_.version()) return false;
  answered_ = roster_.version();
  return true;
}

void task_watch_verbs::answer_all() {
  if (!watchers_.all().empty()) calls_.answer_all(watchers_.tickets(), tasks_now());
}

void task_watch_verbs::handle(call const& c, watch_tasks_args& args) {
  std::uint64_t const version = roster_.version();
  if (args.after > version)
    return calls_.refuse<&reasons::not_yet>(c, "version", *args.after, version);
  // A waiting call also counts for its future reply.
  kernel_.tally.steps += roster_.size() / watching_tasks_per_step;
  if (args.after != version) return calls_.answer_now(c, tasks_now(), false);
  calls_.park(c, *this, {watchers_.wait({c.from, version})}, args.timeout);
}

// Each version is made and encoded once for all watches.
answer_ptr task_watch_verbs::tasks_now() {
  if (shown_ && std::get<tasks_answer>(shown_->value).version == roster_.version()) return shown_;
  tasks_answer all;
  all.version = roster_.version();
  all.tasks.reserve(roster_.size());
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    all.tasks.push_back({task_id{i}, t.state, kernel_.is_suspect(t), t.self, std::nullopt,
                         kernel_.from_of(t).label(), kernel_.from_of(t).peer(), t.error(),
                         t.recoverable});
  }
  return shown_ = calls_.share(std::move(all));
}

}  // namespace coxswain::core
