#include "tests/sim/everything/injected_bugs.hpp"

#include "coxswain/core/model/reasons.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::sim {
namespace {

// The body of the one message, if it is of this type.
template <class Value>
Value* body(server_messages& sent) {
  return std::get_if<Value>(&sent.front().what.value);
}
template <class Args>
Args* body(client_messages& sent) {
  return std::get_if<Args>(&sent.front().what);
}

bool is_reply(server_messages const& sent) { return sent.front().id != request_id{}; }

// The request that this message answers.
template <class Args>
Args const* asked(bug_injector& by, std::size_t process, server_messages const& sent) {
  return by.asked<Args>(process, sent.front().id);
}

void lost_reply(bug_injector& by, std::size_t, server_messages& sent) {
  if (is_reply(sent) && by.one_in(25)) sent.clear();
}
void doubled_reply(bug_injector& by, std::size_t, server_messages& sent) {
  if (is_reply(sent) && by.one_in(25)) sent.push_back(sent.front());
}
void forgotten_resume(bug_injector&, std::size_t, server_messages& sent) {
  auto* const resumed = body<core::resume_answer>(sent);
  if (resumed && !resumed->unknown.empty()) resumed->unknown.pop_back();
}

void stale_read(bug_injector& by, std::size_t process, server_messages& sent) {
  auto* const found = body<core::value_answer>(sent);
  auto const* const get = asked<core::try_get_args>(by, process, sent);
  if (!found || !get) return;
  auto const before = by.remembered.try_emplace(get->key, *found).first->second;
  by.remembered[get->key] = *found;
  *found = before;
}
void partial_get_all(bug_injector& by, std::size_t process, server_messages& sent) {
  auto* const found = body<core::listing_answer>(sent);
  if (found && asked<core::get_all_args>(by, process, sent)) found->entries.pop_back();
}
void partial_listing(bug_injector& by, std::size_t process, server_messages& sent) {
  auto* const found = body<core::listing_answer>(sent);
  bool const is_list = asked<core::list_args>(by, process, sent) != nullptr;
  if (found && is_list && !found->entries.empty()) found->entries.pop_back();
}
void swapped_changes(bug_injector&, std::size_t, server_messages& sent) {
  auto* const update = body<core::key_changes_answer>(sent);
  if (update && update->changes.size() > 1) std::swap(update->changes[0], update->changes[1]);
}
void missing_change(bug_injector& by, std::size_t, server_messages& sent) {
  auto* const update = body<core::key_changes_answer>(sent);
  if (update && update->changes.size() > 1 && by.one_in(2)) update->changes.pop_back();
}
void item_twice(bug_injector& by, std::size_t process, server_messages& sent) {
  auto* const item = body<core::value_answer>(sent);
  auto const* const pop = asked<core::pop_args>(by, process, sent);
  if (!item || !pop) return;
  auto const before = by.remembered.try_emplace(pop->queue, *item).first->second;
  by.remembered[pop->queue] = *item;
  if (by.one_in(3)) *item = before;
}
void lost_item(bug_injector& by, std::size_t process, server_messages& sent) {
  if (!body<core::value_answer>(sent) || !asked<core::pop_args>(by, process, sent)) return;
  if (by.one_in(4)) sent.front().what = {status{errc::cancelled, "it is no longer in the job"}, {}};
}

// The change of a lease, if it is of this kind.
core::update_lease_args* change(client_messages& sent, core::lease_change what) {
  auto* const args = body<core::update_lease_args>(sent);
  return args && args->change == what ? args : nullptr;
}
void hasty_lease(bug_injector&, std::size_t, client_messages& sent) {
  if (auto* const take = body<core::take_args>(sent))
    take->lease = std::min<duration>(take->lease, 20ms);
}
void forgotten_finish(bug_injector&, std::size_t, client_messages& sent) {
  auto* const args = change(sent, core::lease_change::finish);
  if (args) args->change = core::lease_change::release;
}
void finished_release(bug_injector&, std::size_t, client_messages& sent) {
  auto* const args = change(sent, core::lease_change::release);
  if (args) args->change = core::lease_change::finish;
}
void late_return(bug_injector&, std::size_t, client_messages& sent) {
  auto* const args = change(sent, core::lease_change::release);
  if (!args) return;
  args->change = core::lease_change::extend;
  args->lease = 500ms;
}
void forgotten_extension(bug_injector&, std::size_t, client_messages& sent) {
  auto* const args = change(sent, core::lease_change::extend);
  if (args) args->lease = 20ms;
}

// The name of the lock that this message grants, if any.
std::string const* granted_lock(bug_injector& by, std::size_t process, server_messages& sent) {
  if (!body<core::stored_answer>(sent)) return nullptr;
  if (auto const* const lock = asked<core::lock_args>(by, process, sent)) return &lock->name;
  auto const* const tried = asked<core::try_lock_args>(by, process, sent);
  return tried ? &tried->name : nullptr;
}
void doubled_token(bug_injector& by, std::size_t process, server_messages& sent) {
  if (!granted_lock(by, process, sent)) return;
  std::uint64_t& token = body<core::stored_answer>(sent)->version;
  std::uint64_t const before =
      by.remembered.try_emplace("token", core::value_answer{bytes{}, token}).first->second.version;
  by.remembered["token"].version = token;
  if (by.one_in(3)) token = before;
}
void second_owner(bug_injector& by, std::size_t process, server_messages& sent) {
  core::answer& what = sent.front().what;
  bool const is_held = what.outcome.code() == errc::already_exists;
  if (!is_held || !asked<core::try_lock_args>(by, process, sent)) return;
  what = {{}, core::stored_answer{std::uint64_t{1'000'000} + sent.front().id.value}};
}
void note_token(bug_injector& by, std::size_t process, server_messages& sent) {
  if (auto const* const name = granted_lock(by, process, sent)) {
    by.remembered[*name].version = body<core::stored_answer>(sent)->version;
  }
}
void unchecked_token(bug_injector& by, std::size_t, client_messages& sent) {
  if (auto* const unlock = body<core::unlock_args>(sent)) {
    unlock->token = by.remembered[unlock->name].version;
  }
}
void early_lock(bug_injector&, std::size_t, client_messages& sent) {
  if (auto const* const lock = body<core::lock_args>(sent)) {
    sent.front().what = core::try_lock_args{lock->name};
  }
}

void removed_tree(bug_injector&, std::size_t, client_messages& sent) {
  if (auto const* const one = body<core::remove_args>(sent)) {
    sent.front().what = core::remove_tree_args{one->key};
  }
}
void early_get(bug_injector&, std::size_t, client_messages& sent) {
  if (auto const* const get = body<core::get_args>(sent)) {
    sent.front().what = core::try_get_args{get->key};
  }
}
void doubled_increment(bug_injector&, std::size_t, client_messages& sent) {
  if (auto* const add = body<core::increment_args>(sent)) add->by *= 2;
}
void overwriting_put(bug_injector&, std::size_t, client_messages& sent) {
  if (auto* const put = body<core::put_args>(sent)) put->overwrite = true;
}
void forgotten_predecessor(bug_injector&, std::size_t, client_messages& sent) {
  auto const* const put = body<core::put_args>(sent);
  if (!put || put->overwrite) return;
  sent.front().what =
      core::compare_and_set_args{put->key, put->value, core::absent_value{}, put->ephemeral};
}
void careless_compare(bug_injector&, std::size_t, client_messages& sent) {
  if (auto const* const set = body<core::compare_and_set_args>(sent)) {
    sent.front().what = core::put_args{set->key, set->value, true, set->ephemeral};
  }
}
void forgotten_append(bug_injector& by, std::size_t, client_messages& sent) {
  auto* const more = body<core::append_args>(sent);
  if (more && by.one_in(2)) more->value.clear();
}
void forgotten_owner(bug_injector&, std::size_t, client_messages& sent) {
  if (auto* const put = body<core::put_args>(sent)) put->ephemeral = false;
}

void wrong_reduction(bug_injector& by, std::size_t process, server_messages& sent) {
  auto* const round = body<core::barrier_answer>(sent);
  auto const* const call = asked<core::barrier_args>(by, process, sent);
  if (!round || !call || call->reduce == core::reduction::none || round->data.empty()) return;
  std::string text{round->data[0].view()};
  text[0] = static_cast<char>(text[0] ^ 1);
  round->data[0] = bytes{std::move(text)};
}
void swapped_data(bug_injector&, std::size_t, server_messages& sent) {
  auto* const round = body<core::barrier_answer>(sent);
  if (round && round->data.size() > 1) std::swap(round->data[0], round->data[1]);
}
void split_round(bug_injector& by, std::size_t, server_messages& sent) {
  auto* const round = body<core::barrier_answer>(sent);
  if (round && by.one_in(10)) ++round->round.value;
}
void split_outcome(bug_injector& by, std::size_t, server_messages& sent) {
  auto const* const failed = body<barrier_failure>(sent);
  if (!failed || failed->round == round_number{} || !by.one_in(3)) return;
  sent.front().what = {{}, core::barrier_answer{failed->round, {}}};
}
void missing_participant(bug_injector&, std::size_t, client_messages& sent) {
  auto* const call = body<core::barrier_args>(sent);
  if (call && sent.front().task) call->participants = {*sent.front().task};
}
void short_count(bug_injector&, std::size_t, client_messages& sent) {
  auto* const call = body<core::count_barrier_args>(sent);
  if (call && call->count > 1) --call->count;
}
void forgotten_cancellation(bug_injector&, std::size_t, client_messages& sent) {
  if (body<core::cancel_args>(sent)) sent.clear();
}

void forgotten_drain(bug_injector& by, std::size_t process, server_messages& sent) {
  auto& what = sent[0].what;
  bool const is_refused = asked<core::join_args>(by, process, sent) &&
                          states(what.outcome, &core::reasons::job_is_draining);
  if (is_refused) what = core::answer{{}, core::join_answer{}};
}

void dead_alive(bug_injector& by, std::size_t, server_messages& sent) {
  auto* const alive = body<core::alive_answer>(sent);
  if (!alive || alive->tasks.empty() || !by.one_in(3)) return;
  alive->tasks.front().self = incarnation{777};
}
void forgotten_alive(bug_injector& by, std::size_t, server_messages& sent) {
  auto* const alive = body<core::alive_answer>(sent);
  if (alive && alive->tasks.size() > 1 && by.one_in(3)) alive->tasks.pop_back();
}
void stale_tasks(bug_injector&, std::size_t, server_messages& sent) {
  auto* const now = body<core::tasks_answer>(sent);
  if (!now) return;
  for (auto& task : now->tasks) {
    if (task.state == task_state::failed) task.state = task_state::connected;
  }
}
void lost_event(bug_injector&, std::size_t, server_messages& sent) {
  auto* const events = body<core::events_answer>(sent);
  if (events && events->entries.size() > 1) events->entries.erase(events->entries.begin());
}
void forgotten_error(bug_injector&, std::size_t process, server_messages& sent) {
  if (process % 3 == 1 && body<job_error>(sent)) sent.clear();
}
void other_cause(bug_injector&, std::size_t process, server_messages& sent) {
  auto* const failed = body<job_error>(sent);
  if (failed && process % 3 == 1) failed->cause.task = task_id{99};
}
void other_step(bug_injector&, std::size_t process, server_messages& sent) {
  auto* const point = body<core::sync_point>(sent);
  if (point && process % 2 == 1) ++point->step;
}
void forgotten_freeze(bug_injector&, std::size_t process, server_messages& sent) {
  if (process % 3 == 1 && body<core::freeze_request>(sent)) sent.clear();
}
void other_topology(bug_injector&, std::size_t process, server_messages& sent) {
  auto* const whole = body<core::global_topology>(sent);
  if (whole && process % 2 == 1) ++whole->tasks.front().devices.front().global_id;
}
void ignored_error(bug_injector&, std::size_t, client_messages& sent) {
  if (body<core::report_error_args>(sent)) sent.front().what = core::inspect_args{};
}

void other_number(bug_injector&, std::size_t, server_messages& sent) {
  auto* const joined = body<core::join_answer>(sent);
  if (joined && joined->task) ++joined->task->value;
}
void forgotten_return(bug_injector&, std::size_t, client_messages& sent) {
  if (auto* const args = body<core::leave_args>(sent)) args->returning = false;
}

void kept_grant(bug_injector&, std::size_t, client_messages& sent) {
  auto const* const grant = body<core::grant_args>(sent);
  if (grant && grant->secret.empty()) sent.front().what = core::inspect_args{};
}
void hasty_guest(bug_injector& by, std::size_t process, client_messages& sent) {
  auto* const leave = body<core::leave_args>(sent);
  if (leave && by.is_guest(process)) leave->timeout = 0s;
}
void finished_guest(bug_injector& by, std::size_t process, client_messages& sent) {
  auto* const leave = body<core::leave_args>(sent);
  if (leave && by.is_guest(process)) leave->returning = false;
}
void passing_guest(bug_injector& by, std::size_t process, server_messages& sent) {
  if (body<core::sync_point>(sent) && by.is_guest(process)) sent.front().what = {};
}
void stopping_guest(bug_injector& by, std::size_t process, server_messages& sent) {
  auto const* const asked_for = asked<core::frozen_args>(by, process, sent);
  if (asked_for && by.is_guest(process))
    sent.front().what = {{}, core::sync_point{0, asked_for->step}};
}
void unaware_guest(bug_injector& by, std::size_t process, server_messages& sent) {
  std::string const& why = sent.front().what.outcome.message();
  bool const is_replaced = states(why, &core::reasons::host_was_replaced);
  if (by.is_guest(process) && is_replaced) sent.front().what = {};
}
void unexplained_end(bug_injector& by, std::size_t process, server_messages& sent) {
  auto* const bye = body<core::goodbye>(sent);
  if (bye && by.is_guest(process)) bye->why = {errc::aborted, "it is over"};
}

duration* timeout_of(client_messages& sent) {
  auto const of = [](auto& args) -> duration* {
    if constexpr (requires { args.timeout; }) return &args.timeout;
    return nullptr;
  };
  return std::visit(of, sent.front().what);
}
void early_deadline(bug_injector&, std::size_t, client_messages& sent) {
  duration* const timeout = timeout_of(sent);
  if (timeout && *timeout != without_limit) *timeout -= std::min(*timeout, duration{2ms});
}
void late_deadline(bug_injector&, std::size_t, client_messages& sent) {
  duration* const timeout = timeout_of(sent);
  if (timeout && *timeout != without_limit) *timeout += 200ms;
}
void lost_acknowledgement(bug_injector&, std::size_t, client_messages& sent) {
  sent.front().answered_through = 0;
}

void kept_suspect(core::config& c) { c.reconnect_grace += 3s; }
void hasty_verdict(core::config& c) { c.reconnect_grace = 0s; }
void deaf_to_silence(core::config& c) { c.heartbeat_timeout *= 3; }
void no_memory_limit(core::config& c) { c.memory_bytes_max *= 64; }
void forgotten_debts(core::config& c) { c.owed_outcomes_max = 0; }
void short_change_log(core::config& c) { c.changes_max = 2; }
void hasty_spare(core::config& c) { c.come_back = 0s; }
void patient_spare(core::config& c) { c.come_back = c.come_back * 4 + 2s; }
void patient_return(core::config& c) { c.return_timeout *= 4; }
void unnoticed_leave(core::config& c) { c.leave_barrier = !c.leave_barrier; }

injected_bug of_epochs(injected_bug made) {
  made.is_of_epochs = true;
  return made;
}

// The epoch that one of these messages states; null: none does.
core::epoch_answer* pushed_epoch(server_messages& sent) {
  auto* const joined = body<core::join_answer>(sent);
  if (joined && joined->epoch) return &*joined->epoch;
  return body<core::epoch_answer>(sent);
}
void other_rank(bug_injector& by, std::size_t, server_messages& sent) {
  auto* const epoch = pushed_epoch(sent);
  if (epoch && epoch->size > 1 && by.one_in(4))
    epoch->rank.value = (epoch->rank.value + 1) % epoch->size;
}
void other_size(bug_injector& by, std::size_t, server_messages& sent) {
  auto* const epoch = pushed_epoch(sent);
  if (epoch && epoch->size > 1 && by.one_in(4)) ++epoch->size;
}
void other_members(bug_injector& by, std::size_t, server_messages& sent) {
  auto* const all = body<core::epoch_members_answer>(sent);
  if (all && all->members.size() > 1 && by.one_in(3)) {
    std::swap(all->members.front(), all->members.back());
  }
}
void lost_fence(bug_injector& by, std::size_t, client_messages& sent) {
  auto& newest = by.remembered["epoch"].version;
  newest = std::max(newest, sent.front().epoch);
  if (sent.front().epoch > 0) sent.front().epoch = newest;
}
void hasty_epoch(bug_injector& by, std::size_t, client_messages& sent) {
  auto const epoch = sent.front().epoch;
  if (epoch == 0 || !body<core::barrier_args>(sent) || !by.one_in(4)) return;
  core::next_epoch_args next;
  next.after = epoch;
  sent.front().what = next;
}
void forgotten_member(bug_injector& by, std::size_t, client_messages& sent) {
  auto* const join = body<core::join_args>(sent);
  if (!join || join->member.empty()) return;
  auto const times = ++by.remembered[join->member].version;
  if (times > 1) join->member += "." + std::to_string(times);
}
void forgotten_shrink(bug_injector&, std::size_t, client_messages& sent) {
  if (auto* const next = body<core::next_epoch_args>(sent)) next->shrink_only = false;
}
void forgiven_machine(bug_injector& by, std::size_t, client_messages& sent) {
  auto* const join = body<core::join_args>(sent);
  auto const number = join ? ++by.remembered["machines"].version : 0;
  if (join) join->placement = {"machine " + std::to_string(number)};
}
void mistaken_machine(bug_injector&, std::size_t, client_messages& sent) {
  if (auto* const join = body<core::join_args>(sent)) join->placement = {"machine"};
}
void former_alive(bug_injector& by, std::size_t, server_messages& sent) {
  auto* const alive = body<core::alive_answer>(sent);
  if (!alive) return;
  for (auto& task : alive->tasks) {
    core::value_answer const now{bytes{}, task.self.value};
    task.self = incarnation{by.remembered.try_emplace("task " + std::to_string(task.id.value), now)
                                .first->second.version};
  }
}
void short_topology(bug_injector&, std::size_t, server_messages& sent) {
  auto* const whole = body<core::global_topology>(sent);
  if (whole && whole->tasks.size() > 1) whole->tasks.pop_back();
}
void unstated_silence(bug_injector&, std::size_t, server_messages& sent) {
  if (auto* const hello = body<boxed<core::hello_answer>>(sent)) (*hello)->suspect_after = {};
  if (auto* const again = body<core::resume_answer>(sent)) again->suspect_after = {};
}
// An agreed step of an earlier epoch, or the present one if there was none.
void former_agreement(bug_injector& by, std::size_t process, server_messages& sent) {
  auto* const point = body<core::sync_point>(sent);
  if (!point) return;
  core::value_answer const now{bytes{}, point->step};
  point->step =
      by.remembered.try_emplace("step of " + std::to_string(process), now).first->second.version;
}
void short_epoch(core::config& c) { c.min_tasks = 1; }
void oversized_epoch(core::config& c) { ++c.num_tasks; }
void hasty_growth(core::config& c) { c.grow = core::growth::now; }
void other_ranks(core::config& c) {
  bool const keeps = c.ranks == core::rank_order::keep;
  c.ranks = keeps ? core::rank_order::member : core::rank_order::keep;
}
void hasty_farewell(core::config& c) {
  if (c.epoch_timeout > 0s) c.epoch_timeout = 20ms;
}

void deadly_trunk(core::config& c) { c.relay_grace = 0s; }

injected_bug of_relays(std::string_view name, std::string_view imitates, relay_bug how) {
  injected_bug made{name, imitates};
  made.is_of_relays = true;
  made.relays = how;
  if (how == relay_bug::none) made.configure = &deadly_trunk;
  return made;
}

injected_bug restarts(std::string_view name, std::string_view imitates, restart_bug how) {
  injected_bug made{name, imitates};
  made.restarts = how;
  return made;
}

}  // namespace

std::vector<injected_bug> const& all_bugs() {
  static std::vector<injected_bug> const all{
      {"lost_reply", "a reply is dropped", nullptr, &lost_reply},
      {"doubled_reply", "a reply is sent twice", nullptr, &doubled_reply},
      {"forgotten_resume", "a Resume does not name a lost request", nullptr, &forgotten_resume},
      {"stale_read", "a value is read from before its last change", nullptr, &stale_read},
      {"partial_get_all", "a get of several keys leaves one out", nullptr, &partial_get_all},
      {"partial_listing", "a listing leaves a key out", nullptr, &partial_listing},
      {"swapped_changes", "a watch reports changes in the wrong order", nullptr, &swapped_changes},
      {"missing_change", "a watch leaves a change out", nullptr, &missing_change},
      {"item_twice", "an item of a queue is given twice", nullptr, &item_twice},
      {"lost_item", "an item is taken by a caller that gets none", nullptr, &lost_item},
      {"hasty_lease", "the lease of an item expires too early", &hasty_lease},
      {"forgotten_finish", "an item that is finished returns", &forgotten_finish},
      {"finished_release", "an item that is handed back is gone", &finished_release},
      {"late_return", "an item that is handed back returns later", &late_return},
      {"forgotten_extension", "a lease is not extended", &forgotten_extension},
      {"doubled_token", "two locks get one token", nullptr, &doubled_token},
      {"second_owner", "a lock that is held is given to another", nullptr, &second_owner},
      {"unchecked_token", "a lock is released by a wrong token", &unchecked_token, &note_token},
      {"early_lock", "a lock is not waited for", &early_lock},
      {"removed_tree", "a remove takes what is below the key", &removed_tree},
      {"early_get", "a get does not wait for the key", &early_get},
      {"doubled_increment", "an increment takes effect twice", &doubled_increment},
      {"overwriting_put", "a put overwrites unasked", &overwriting_put},
      {"forgotten_predecessor", "the next process of a task may not put what it finds",
       &forgotten_predecessor},
      {"careless_compare", "a compare-and-set does not compare", &careless_compare},
      {"forgotten_append", "an append is answered and not done", &forgotten_append},
      {"forgotten_owner", "an ephemeral key outlives its task", &forgotten_owner},
      {"wrong_reduction", "a reduction is wrong", nullptr, &wrong_reduction},
      {"swapped_data", "gathered data is not in task order", nullptr, &swapped_data},
      {"split_round", "a member gets another round's number", nullptr, &split_round},
      {"split_outcome", "a failed round has passed for a member", nullptr, &split_outcome},
      {"missing_participant", "a round passes without its participants", &missing_participant},
      {"short_count", "a count barrier passes one too early", &short_count},
      {"forgotten_cancellation", "a cancellation is ignored", &forgotten_cancellation},
      {"forgotten_drain", "a process joins a job that drains", nullptr, &forgotten_drain},
      {"dead_alive", "an alive query names an incarnation that is gone", nullptr, &dead_alive},
      {"forgotten_alive", "an alive query leaves out who is there", nullptr, &forgotten_alive},
      {"stale_tasks", "a watch shows a failed task as connected", nullptr, &stale_tasks},
      {"lost_event", "a watch of events leaves one out", nullptr, &lost_event},
      {"forgotten_error", "some sessions do not hear of the failure", nullptr, &forgotten_error},
      {"other_cause", "some sessions hear of another cause", nullptr, &other_cause},
      {"other_step", "some tasks get another step to stop at", nullptr, &other_step},
      {"forgotten_freeze", "some sessions are not asked to freeze", nullptr, &forgotten_freeze},
      {"other_topology", "some tasks get another topology", nullptr, &other_topology},
      {"ignored_error", "a reported error has no effect", &ignored_error},
      {"other_number", "a spare gets another number", nullptr, &other_number},
      {"hasty_spare", "a failed task has no time to come back", nullptr, nullptr, &hasty_spare},
      {"patient_spare", "a spare waits for too long", nullptr, nullptr, &patient_spare},
      {"forgotten_return", "a task that is to return has finished", &forgotten_return},
      {"kept_grant", "a grant is not taken back", &kept_grant},
      {"hasty_guest", "a guest leaves without waiting", &hasty_guest},
      {"finished_guest", "the task of a guest is not to return", &finished_guest},
      {"passing_guest", "a guest passes the step to stop at", nullptr, &passing_guest},
      {"stopping_guest", "a guest stops at any step", nullptr, &stopping_guest},
      {"unaware_guest", "a guest does not learn that its host was replaced", nullptr,
       &unaware_guest},
      {"unexplained_end", "a guest does not learn why it ends", nullptr, &unexplained_end},
      {"early_deadline", "deadlines come too early", &early_deadline},
      {"late_deadline", "deadlines come too late", &late_deadline},
      {"lost_acknowledgement", "acknowledged replies are kept", &lost_acknowledgement},
      {"kept_suspect", "a suspect task lives on", nullptr, nullptr, &kept_suspect},
      {"hasty_verdict", "a lost connection is a death at once", nullptr, nullptr, &hasty_verdict},
      {"deaf_to_silence", "silence is detected late", nullptr, nullptr, &deaf_to_silence},
      {"no_memory_limit", "memory is not limited", nullptr, nullptr, &no_memory_limit},
      {"forgotten_debts", "owed outcomes are forgotten", nullptr, nullptr, &forgotten_debts},
      {"short_change_log", "changes are forgotten too soon", nullptr, nullptr, &short_change_log},
      {"patient_return", "a task may return for too long", nullptr, nullptr, &patient_return},
      {"unnoticed_leave", "leaving waits for none, or for all", nullptr, nullptr, &unnoticed_leave},
      of_epochs({"other_rank", "a member gets the number of another", nullptr, &other_rank}),
      of_epochs({"other_size", "a member gets another size of its epoch", nullptr, &other_size}),
      of_epochs({"other_members", "lists of members differ", nullptr, &other_members}),
      of_epochs({"lost_fence", "a call of a former epoch has an effect", &lost_fence}),
      of_epochs({"hasty_epoch", "an epoch begins before all have called", &hasty_epoch}),
      of_epochs({"forgotten_member", "the next process of a member is not known as such",
                 &forgotten_member}),
      of_epochs({"forgotten_shrink", "a process is admitted where the job may only shrink",
                 &forgotten_shrink}),
      of_epochs({"forgiven_machine", "a machine that loses many members is admitted at once",
                 &forgiven_machine}),
      of_epochs(
          {"mistaken_machine", "a machine waits because others lose members", &mistaken_machine}),
      of_epochs({"former_alive", "an alive query names members of a former epoch", nullptr,
                 &former_alive}),
      of_epochs({"short_topology", "a topology leaves a member out", nullptr, &short_topology}),
      of_epochs({"former_agreement", "a member gets the step of an earlier agreement", nullptr,
                 &former_agreement}),
      of_epochs({"short_epoch", "an epoch has too few tasks", nullptr, nullptr, &short_epoch}),
      of_epochs(
          {"oversized_epoch", "an epoch has too many tasks", nullptr, nullptr, &oversized_epoch}),
      of_epochs({"hasty_growth", "who joins ends the epoch", nullptr, nullptr, &hasty_growth}),
      of_epochs(
          {"other_ranks", "numbers are given in another order", nullptr, nullptr, &other_ranks}),
      of_epochs({"hasty_farewell", "a member is left behind too early", nullptr, nullptr,
                 &hasty_farewell}),
      restarts("early_answers", "answers leave before the journal has them",
               restart_bug::early_answers),
      restarts("early_release", "answers leave before the disk has the journal",
               restart_bug::early_release),
      restarts("ignored_failure", "answers leave although the disk has failed",
               restart_bug::ignored_failure),
      restarts("lost_batch", "the journal's last batch is lost", restart_bug::lost_batch),
      restarts("repeated_input", "an input is replayed twice", restart_bug::repeated_input),
      restarts("lost_input", "an input is not replayed", restart_bug::lost_input),
      restarts("no_grace", "a restart gives no time to resume", restart_bug::no_grace),
      restarts("other_coordinator", "a restarted coordinator has another incarnation",
               restart_bug::other_coordinator),
      {"unstated_silence", "clients do not learn how soon a silent connection is suspected",
       nullptr, &unstated_silence},
      of_relays("deadly_trunk", "a lost relay is the death of its clients", relay_bug::none),
      of_relays("mistaken_exit", "the end of a connection is that of its process",
                relay_bug::mistaken_exit),
      of_relays("forgotten_exit", "the end of a process is only that of its connection",
                relay_bug::forgotten_exit),
      of_relays("repeated_exits", "an end is reported for who has the number next",
                relay_bug::repeated_exits),
      of_relays("repeated_frames", "a frame is passed again over the next trunk",
                relay_bug::repeated_frames),
      of_relays("forgetful_list", "a client that lives is listed as silent",
                relay_bug::forgetful_list),
  };
  return all;
}

injected_bug const* find_bug(std::string_view name) {
  auto const& all = all_bugs();
  auto const at =
      std::find_if(all.begin(), all.end(), [&](injected_bug const& p) { return p.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace coxswain::sim
