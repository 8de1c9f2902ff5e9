#include "tests/sim/everything/scripts.hpp"

#include "tests/sim/everything/actor.hpp"
#include "tests/sim/everything/job.hpp"
#include "tests/sim/everything/requests.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::sim {
namespace {

constexpr duration join_timeout = 5s;
constexpr duration leave_timeout = 4s;
constexpr duration follow_timeout = 600ms;
constexpr int follow_rounds = 5;

bool one_in(generator& r, std::uint64_t n) { return between(r, 1, n) == 1; }

duration short_time(actor& me, duration longest) { return between(me.in.w.random, 0ns, longest); }

bool takes_part(gathering const& g, task_id task) {
  auto const& all = g.participants;
  return all.empty() || std::find(all.begin(), all.end(), task) != all.end();
}

core::join_args join_of(actor& me, task_id task) {
  core::join_args args;
  args.self = me.record().self;
  args.recoverable = me.in.decided.recoverable[task.value];
  args.take_over = *args.recoverable && between(me.in.w.random, 1, 3) == 1;
  return args;
}

// Every process of a task puts this key.
core::put_args put_of_task(actor& me, task_id task, bool replaces) {
  core::put_args put;
  put.key = (replaces ? "replaced/" : "own/") + std::to_string(task.value);
  put.value = replaces ? me.unique_text() : "of every process";
  put.replaces_predecessor = replaces;
  return put;
}

// Fails on purpose, and rejoins as the same incarnation. Other calls of the task may continue
// meanwhile.
script report_failure(actor& me, task_id task) {
  core::request error = core::report_error_args{status{errc::internal, "injected failure"}};
  core::answer a = co_await me.ask(std::move(error), 3s, task);
  co_await me.sleep(short_time(me, 300ms));
  core::request reset = core::reset_args{me.record().self};
  a = co_await me.ask(std::move(reset), 3s, task);
  core::request join = join_of(me, task);
  a = co_await me.ask(std::move(join), join_timeout, task);
  if (a.outcome.ok()) me.returned(task);
}

}  // namespace

script do_everything(actor& me, task_id task) {
  core::answer a;
  for (int tries = 0; tries < 3 && !me.is_over(); ++tries) {
    core::join_args join = join_of(me, task);
    join.with_hello = tries == 0 && !me.is_guest();
    core::request what = std::move(join);
    a = co_await me.ask(std::move(what), join_timeout, task);
    if (a.outcome.code() != errc::deadline_exceeded) break;
  }
  if (!a.outcome.ok() || me.is_over()) {
    if (me.is_guest()) me.in.has_left(me);
    co_return;
  }
  me.joined(task);
  if (me.hosts(task)) co_return;
  me.body.work.push_back(take_part(me, task));
  me.body.work.back().start();
}

script be_spare(actor& me) {
  core::join_args args;
  args.self = me.record().self;
  args.recoverable = true;
  args.any = true;
  args.member = "spare " + me.unique_text();
  core::request join = std::move(args);
  duration const timeout = 1s + short_time(me, 8s);
  core::answer const a = co_await me.ask(std::move(join), timeout, std::nullopt);
  auto const* const joined = std::get_if<core::join_answer>(&a.value);
  if (!joined || !joined->task || me.is_over()) co_return;
  task_id const task = *joined->task;
  me.record().tasks = {task};
  me.joined(task);
  me.body.work.push_back(take_part(me, task));
  me.body.work.back().start();
}

script take_part(actor& me, task_id task) {
  core::answer a;
  if (!me.is_guest()) {
    for (bool const replaces : {false, true}) {
      core::request put = put_of_task(me, task, replaces);
      a = co_await me.ask(std::move(put), 3s, task);
    }
  }
  auto const& all = me.in.decided.gatherings;
  bool const is_brief = me.record().is_brief;
  if (is_brief) co_await me.sleep(short_time(me, 2s));
  for (std::size_t i = is_brief ? all.size() : me.in.begin_at(task);
       i < all.size() && !me.is_over(); ++i) {
    co_await me.sleep(short_time(me, 500ms));
    if (me.is_over() || me.restarts()) co_return;
    me.in.reached(task, i);
    if (!takes_part(all[i], task)) continue;
    core::request what = request_for(all[i], me.in.w.random, task, me.in.decided.options.num_tasks);
    std::optional<task_id> as;
    if (is_of_task(what)) as = task;
    a = co_await me.ask(std::move(what), all[i].timeout, as);
    if (!me.restarts() && me.in.should_fail(task)) {
      me.body.work.push_back(report_failure(me, task));
      me.body.work.back().start();
    }
  }
  if (me.is_over() || me.restarts()) co_return;
  core::leave_args args;
  args.returning =
      me.is_guest() && me.in.decided.recoverable[task.value] && one_in(me.in.w.random, 5);
  core::request leave = args;
  a = co_await me.ask(std::move(leave), leave_timeout, task);
  me.has_left(task);
  if (!me.is_guest()) co_return;
  co_await me.sleep(short_time(me, 20ms));
  me.in.has_left(me);
}

script host_programs(actor& me, task_id task) {
  core::answer a;
  std::string last;
  for (auto i = between(me.in.w.random, 1, 3); i > 0 && !me.is_over() && !me.restarts(); --i) {
    std::string const secret = "secret of process " + me.unique_text() + ".";
    core::request grant = core::grant_args{secret};
    a = co_await me.ask(std::move(grant), without_limit, task);
    if (!a.outcome.ok() || me.is_over()) break;
    // Some try a grant of earlier guests.
    bool const is_late = !last.empty() && one_in(me.in.w.random, 4);
    me.in.start_guests(me, task, is_late ? last : secret);
    last = secret;
    bool const waits = !one_in(me.in.w.random, 4);
    auto const wait_max = me.in.w.now + short_time(me, 1s);
    while (!me.is_over() && (waits ? me.in.has_guests(secret) : me.in.w.now < wait_max)) {
      co_await me.sleep(50ms);
    }
    if (one_in(me.in.w.random, 3)) continue;
    grant = core::grant_args{};
    a = co_await me.ask(std::move(grant), without_limit, task);
  }
  if (me.is_over() || me.restarts()) co_return;
  core::request leave = core::leave_args{};
  a = co_await me.ask(std::move(leave), leave_timeout, task);
  me.has_left(task);
  if (me.record().tasks.size() == 1 && one_in(me.in.w.random, 2)) me.in.has_left(me);
}

script restart(actor& me, bool returning) {
  for (task_id const task : std::set{me.tasks()}) {
    core::request leave = core::leave_args{0s, returning};
    core::answer const a = co_await me.ask(std::move(leave), 0s, task);
    me.has_left(task);
  }
  me.in.has_left(me);
}

script run_side_script(actor& me, std::optional<task_id> task) {
  std::vector<core::value_answer> taken;  // items under a lease, which may be over
  for (auto i = me.in.decided.side_script_steps; i > 0; --i) {
    co_await me.sleep(short_time(me, 400ms));
    if (me.is_over()) co_return;
    if (task && me.in.decided.options.elastic) task = me.rank();
    side_call e = any_side_call(me.in.w.random, me.in.decided, task, me.unique_text());
    bool const has_item = !taken.empty() && one_in(me.in.w.random, 2);
    if (has_item) e.what = any_lease_change(me.in.w.random, taken);
    std::optional<task_id> as;
    if (is_of_task(e.what)) as = task;
    if (std::holds_alternative<core::reset_args>(e.what)) as = task_id{0};
    if (between(me.in.w.random, 1, 10) == 1) {
      request_id const call = me.body.begin(std::move(e.what), without_limit, as);
      co_await me.sleep(short_time(me, 300ms));
      me.body.cancel(call);
      continue;
    }
    core::answer const a = co_await me.ask(std::move(e.what), e.timeout, as);
    auto const* const item = std::get_if<core::value_answer>(&a.value);
    if (item && item->redeliveries) taken.push_back(*item);
  }
}

script follow(actor& me) {
  std::optional<std::uint64_t> keys;
  std::optional<std::uint64_t> tasks;
  std::optional<std::uint64_t> events;
  for (int i = 0; i < follow_rounds && !me.is_over(); ++i) {
    core::request what = core::watch_keys_args{"d", keys};
    core::answer a = co_await me.ask(std::move(what), follow_timeout, std::nullopt);
    if (auto const* const seen = std::get_if<core::key_changes_answer>(&a.value)) {
      keys = seen->version;
    }
    what = core::watch_tasks_args{tasks};
    a = co_await me.ask(std::move(what), follow_timeout, std::nullopt);
    if (auto const* const seen = std::get_if<core::tasks_answer>(&a.value)) tasks = seen->version;
    what = core::watch_events_args{events, core::severity::info};
    a = co_await me.ask(std::move(what), follow_timeout, std::nullopt);
    if (auto const* const seen = std::get_if<core::events_answer>(&a.value)) {
      events = seen->through;
    }
  }
}

script walk(actor& me, task_id task) {
  std::uint64_t const last = 6 + between(me.in.w.random, 0, 20);
  for (std::uint64_t step = 1; step <= last; ++step) {
    co_await me.sleep(50ms + short_time(me, 200ms));
    if (!me.acts_for(task)) co_return;
    auto stops = me.points(task).reached(step);
    while (!stops) {
      co_await me.sleep(20ms);
      if (!me.acts_for(task) || me.is_over()) co_return;
      stops = me.points(task).reached(step);
    }
    me.in.seen.steps.push_back({me.body.number, task, step, me.in.w.now, *stops, 0});
  }
}

script walk_as_guest(actor& me, task_id task) {
  std::uint64_t const last = 6 + between(me.in.w.random, 0, 20);
  bool const is_elastic = me.in.decided.options.elastic;
  for (std::uint64_t step = 1; step <= last && !me.is_over(); ++step) {
    if (is_elastic) task = me.rank();
    if (!is_elastic && !me.acts_for(task)) co_return;
    core::request what = core::frozen_args{0, step};
    core::answer const a = co_await me.ask(std::move(what), without_limit, task);
    bool const goes_on = a.outcome.ok() || (is_elastic && a.outcome.code() == errc::aborted);
    if (!goes_on) co_return;
    co_await me.sleep(50ms + short_time(me, 200ms));
  }
}

script agree(actor& me, task_id task, std::uint64_t agreement, std::uint64_t step) {
  std::uint64_t const epoch = me.body.logic.epoch().number;
  core::request what = core::frozen_args{agreement, step};
  core::answer const a = co_await me.ask(std::move(what), without_limit, task);
  auto const* const point = std::get_if<core::sync_point>(&a.value);
  std::optional<std::uint64_t> at;
  if (point && epoch == me.body.logic.epoch().number) at = point->step;
  me.points(task).agreed(agreement, at);
}

script audit_keys(actor& me) {
  std::uint64_t seen = 0;
  while (!me.is_over()) {
    core::request what = core::watch_keys_args{"", seen};
    core::answer const a = co_await me.ask(std::move(what), without_limit, std::nullopt);
    auto const* const update = std::get_if<core::key_changes_answer>(&a.value);
    if (me.is_over()) co_return;
    if (!a.outcome.ok()) me.in.seen.keys_are_whole = false;
    if (!update) me.in.seen.is_blind = true;
    if (!update) {
      co_await me.sleep(20ms);
      continue;
    }
    for (auto const& change : update->changes) me.in.seen.keys.push_back({me.in.w.now, change});
    seen = update->version;
  }
}

script audit_tasks(actor& me) {
  std::optional<std::uint64_t> seen;
  while (!me.is_over()) {
    core::request what = core::watch_tasks_args{seen};
    core::answer const a = co_await me.ask(std::move(what), without_limit, std::nullopt);
    if (auto const* const update = std::get_if<core::tasks_answer>(&a.value)) {
      me.in.seen.tasks.push_back({me.in.w.now, *update});
      seen = update->version;
    } else {
      me.in.seen.is_blind = me.in.seen.is_blind || !me.is_over();
      co_await me.sleep(20ms);
    }
  }
}

// For the rules; of whatever the tasks have become, all pages.
script audit_members(actor& me) {
  std::optional<std::uint64_t> seen;
  while (!me.is_over() && me.in.decided.options.elastic) {
    core::request what = core::watch_tasks_args{seen};
    core::answer a = co_await me.ask(std::move(what), without_limit, std::nullopt);
    if (auto const* const update = std::get_if<core::tasks_answer>(&a.value)) {
      seen = update->version;
    } else {
      co_await me.sleep(20ms);
      continue;
    }
    core::epoch_members_args page;
    std::uint64_t epoch = 0;
    for (bool goes_on = true; goes_on;) {
      what = page;
      a = co_await me.ask(std::move(what), 10s, std::nullopt);
      auto const* const all = std::get_if<core::epoch_members_answer>(&a.value);
      if (!all) break;
      bool const begins_again = page.first_task != task_id{} && all->epoch != epoch;
      goes_on = begins_again || all->next_task;
      if (goes_on) page.first_task = begins_again ? task_id{} : *all->next_task;
      epoch = all->epoch;
    }
  }
}

script audit_events(actor& me) {
  std::uint64_t seen = 0;
  while (!me.is_over()) {
    core::request what = core::watch_events_args{seen, core::severity::info};
    core::answer const a = co_await me.ask(std::move(what), without_limit, std::nullopt);
    if (auto const* const update = std::get_if<core::events_answer>(&a.value)) {
      for (auto const& entry : update->entries) me.in.seen.events.push_back({me.in.w.now, entry});
      seen = update->through;
    } else {
      me.in.seen.is_blind = me.in.seen.is_blind || !me.is_over();
      co_await me.sleep(20ms);
    }
  }
}

script clean_up(actor& me) {
  for (char const* const queue : {"q", "r"}) {
    for (;;) {
      core::request pop = core::pop_args{queue};
      core::answer const a = co_await me.ask(std::move(pop), 0s, std::nullopt);
      if (!a.outcome.ok()) break;
    }
  }
  for (std::string after; !me.is_over();) {
    core::request all = core::remove_tree_args{"", true, after};
    core::answer const a = co_await me.ask(std::move(all), 5s, std::nullopt);
    auto const* const page = std::get_if<core::removed_answer>(&a.value);
    if (!page || page->last.empty()) break;
    after = page->last;
  }
}

}  // namespace coxswain::sim
