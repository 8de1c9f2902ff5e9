// The script of a member of an elastic job.

#include "tests/sim/everything/actor.hpp"
#include "tests/sim/everything/job.hpp"
#include "tests/sim/everything/requests.hpp"
#include "tests/sim/everything/scripts.hpp"

#include <utility>

namespace coxswain::sim {
namespace {

constexpr duration leave_timeout = 20s;
constexpr std::uint64_t steps_max = 8;  // of an epoch

bool one_in(generator& r, std::uint64_t n) { return between(r, 1, n) == 1; }

core::request join_of(actor& me) {
  core::join_args args;
  args.self = me.record().self;
  if (me.is_guest()) return args;
  args.recoverable = true;
  args.any = true;
  args.member = me.record().member;
  args.placement = {me.record().machine};
  return args;
}

side_call any_call(actor& me) {
  generator& r = me.in.w.random;
  std::string const text = me.unique_text();
  switch (between(r, 0, 3)) {
    case 0: return {core::epoch_members_args{}, 3s};
    case 1:
    case 2: {
      std::string const number = std::to_string(me.body.logic.epoch().number);
      return {core::put_args{"epoch/" + number + "/" + text, text}, 3s};
    }
    default: return any_side_call(r, me.in.decided, me.rank(), text);
  }
}

// The meeting of all members at a step of their epoch.
side_call meeting_at(actor& me, std::uint64_t step) {
  switch ((me.body.logic.epoch().number + step) % 6) {
    case 0: return {core::alive_args{}, 3s};
    case 2:
      return {core::exchange_topology_args{"cpu " + std::to_string(step), topology_of(me.rank())},
              3s};
    case 1:
      return {
          core::barrier_args{.name = "gathering step", .gather = true, .data = me.unique_text()},
          3s};
    default: return {core::barrier_args{.name = "step"}, 3s};
  }
}

bool goes_on(actor& me) { return !me.is_over() && !me.restarts(); }

}  // namespace

script be_member(actor& me) {
  generator& r = me.in.w.random;
  bool has_entered = false;
  for (int tries = 0; tries < 5 && goes_on(me); ++tries) {
    core::request what = join_of(me);
    duration const timeout = 1s + between(r, 0ns, 8s);
    std::optional<task_id> as;
    if (me.is_guest()) as = me.rank();
    core::answer a = co_await me.ask(std::move(what), timeout, as);
    if (a.outcome.ok() && !std::exchange(has_entered, true)) me.entered_job();
    if (a.outcome.ok() && me.record().is_hosting) co_return;
    while (a.outcome.ok() && goes_on(me)) {
      bool fails = false;
      bool leaves = false;
      bool const knows_epoch = me.body.logic.epoch().number > 0;
      std::uint64_t const steps = knows_epoch ? between(r, 0, steps_max) : 0;
      for (std::uint64_t i = 0; i < 2 * steps && goes_on(me) && !me.sees_ending(); ++i) {
        bool const meets = i % 2 == 1;
        if (!meets && one_in(r, 2)) continue;
        co_await me.sleep(between(r, 0ns, 200ms));
        if (!goes_on(me) || me.in.is_late()) break;
        bool const parts = me.in.should_fail(task_id{0});
        fails = parts && one_in(r, 4);
        leaves = parts && !fails && one_in(r, 4);
        if (fails || leaves) break;
        side_call step = any_call(me);
        if (meets) step = meeting_at(me, i / 2);
        as.reset();
        if (is_of_task(step.what)) as = me.rank();
        a = co_await me.ask(std::move(step.what), step.timeout, as);
      }
      if (!goes_on(me)) co_return;
      if (fails) {
        what = core::report_error_args{status{errc::internal, "injected failure"}};
        a = co_await me.ask(std::move(what), 3s, me.rank());
        break;
      }
      if (leaves) {
        what = core::leave_args{};
        a = co_await me.ask(std::move(what), 0s, me.rank());
        me.in.has_left(me);
        co_return;
      }
      if (me.in.is_late()) {
        what = core::leave_args{};
        a = co_await me.ask(std::move(what), leave_timeout, me.rank());
        if (a.outcome.code() != errc::aborted) break;
      }
      do {
        core::next_epoch_args next;
        next.shrink_only = one_in(r, 20);
        what = next;
        duration const timeout = 500ms + between(r, 0ns, 4s);
        a = co_await me.ask(std::move(what), timeout, std::nullopt);
      } while (a.outcome.code() == errc::deadline_exceeded && goes_on(me));
    }
    if (me.in.is_late() || a.outcome.code() == errc::cancelled) break;
  }
  if (!me.restarts()) me.in.has_left(me);
}

script host_guest(actor& me) {
  task_id const task = me.rank();
  std::string const secret = "secret of process " + me.unique_text() + ".";
  core::request what = core::grant_args{secret};
  core::answer a = co_await me.ask(std::move(what), without_limit, task);
  if (a.outcome.ok() && goes_on(me)) me.in.start_guests(me, task, secret);
  while (goes_on(me) && me.in.has_guests(secret)) co_await me.sleep(50ms);
  for (duration const timeout : {leave_timeout, duration{}}) {
    if (!goes_on(me)) co_return;
    what = core::leave_args{};
    a = co_await me.ask(std::move(what), timeout, me.rank());
    if (a.outcome.code() != errc::aborted) break;
  }
  if (!me.restarts()) me.in.has_left(me);
}

script walk_as_member(actor& me) {
  for (std::uint64_t step = 1; goes_on(me); ++step) {
    co_await me.sleep(50ms + between(me.in.w.random, 0ns, 200ms));
    std::optional<bool> stops;
    while (goes_on(me) && !(stops = me.points({}).reached(step))) co_await me.sleep(20ms);
    if (!stops) co_return;
    me.in.seen.steps.push_back(
        {me.body.number, me.rank(), step, me.in.w.now, *stops, me.body.logic.epoch().number});
  }
}

script leave_alone(actor& me) {
  if (me.body.logic.epoch().number == 0) {
    me.in.has_left(me);
    co_return;
  }
  core::request leave = core::leave_args{};
  core::answer const a = co_await me.ask(std::move(leave), 0s, me.rank());
  me.in.has_left(me);
}

}  // namespace coxswain::sim
