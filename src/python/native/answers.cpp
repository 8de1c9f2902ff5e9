#include "python/native/answers.hpp"

#include "coxswain/status/json.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>

namespace coxswain::python {
namespace {

template <class Values>
py::list list_of(Values const& values) {
  py::list all(values.size());
  std::size_t at = 0;
  for (auto const& value : values) all[at++] = given(value);
  return all;
}

template <class Values>
py::tuple tuple_of(Values const& values) {
  return py::tuple(list_of(values));
}

py::object seconds(duration time) {
  return py::float_(std::chrono::duration<double>{time}.count());
}

py::object seconds(std::optional<duration> time) { return time ? seconds(*time) : py::none(); }

py::object number(std::optional<std::uint64_t> value) {
  return value ? py::object{py::int_(*value)} : py::none();
}

py::object number(std::optional<task_id> value) {
  return value ? py::object{py::int_(value->value)} : py::none();
}

py::object problem(status const& what) {
  if (what.ok()) return py::none();
  return py::make_tuple(static_cast<int>(what.code()), text(what.message()));
}

// The name used by the status page, "round_failed", as words.
std::string words(std::string_view name) {
  std::string made{name};
  std::replace(made.begin(), made.end(), '_', ' ');
  return made;
}

std::string_view name_of(core::snapshot::kind kind) {
  switch (kind) {
    case core::snapshot::kind::tasks: return "barrier";
    case core::snapshot::kind::count: return "count barrier";
    case core::snapshot::kind::join: return "join";
    case core::snapshot::kind::leave: return "leave";
    case core::snapshot::kind::topology: return "topology";
  }
  return "barrier";
}

}  // namespace

py::str text(std::string_view given) {
  auto* const made =
      PyUnicode_DecodeUTF8(given.data(), static_cast<Py_ssize_t>(given.size()), "replace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

// Structured bindings name all fields of an answer, so that a new one is not forgotten here.

py::object given(missing_task const& task) {
  auto const& [id, state, suspect, last_heard, label, waits_for, step, answers, unanswered,
               last_call, last_call_at] = task;
  return py::make_tuple(id.value, text(name(state)), suspect, seconds(last_heard), text(label),
                        text(waits_for), number(step), answers, seconds(unanswered),
                        text(last_call),
                        last_call_at ? py::object{text(rfc3339(*last_call_at))} : py::none());
}

py::object given(core::events_answer::entry const& entry) {
  auto const& [at_number, at, what, time, first, count, first_at, tasks, tasks_cut] = entry;
  auto const& [level, stated, kind, task, barrier] = what;
  return py::make_tuple(at_number, seconds(at), status_page::name_of(level),
                        words(status_page::name_of(kind)), number(task), text(barrier),
                        text(stated), rfc3339(time), count, first, seconds(first_at), text(tasks),
                        tasks_cut);
}

py::object given(core::snapshot::barrier const& barrier) {
  auto const& [name, what, round, arrived, expected, missing, missing_cut, age, remaining] =
      barrier;
  return py::make_tuple(name_of(what), text(name), round.value, arrived, expected, text(missing),
                        missing_cut, seconds(age), seconds(remaining));
}

py::object given(core::why_answer::wait const& wait) {
  auto const& [what, name, waiting, cut, others, missing, age, remaining, stuck] = wait;
  return py::make_tuple(words(status_page::name_of(what)), text(name), text(waiting), cut, others,
                        missing ? given(*missing) : py::none(), seconds(age), seconds(remaining),
                        stuck);
}

py::object given(core::epoch_answer const& epoch) {
  auto const& [number, size, rank, address, lost, joined] = epoch;
  return py::make_tuple(number, size, rank.value, text(address), lost, joined);
}

py::object given(core::epoch_members_answer::member const& member) {
  auto const& [name, self, label, peer, survivor] = member;
  return py::make_tuple(text(name), self.value, text(label), text(peer), survivor);
}

py::object given(core::epoch_members_answer const& all) {
  return py::make_tuple(all.epoch, tuple_of(all.members));
}

py::object given(core::epoch_ends const& what) {
  static constexpr std::array causes{"lost", "joiners", "asked"};
  static_assert(causes.size() == static_cast<std::size_t>(core::epoch_ends::last_cause) + 1);
  auto const& [epoch, why, stated, joiners] = what;
  return py::make_tuple(causes.at(static_cast<std::size_t>(why)), text(stated), joiners);
}

py::object given(process const& process) {
  return py::make_tuple(process.task.value, process.incarnation.value);
}

py::object given(std::vector<std::string> const& values) { return list_of(values); }

py::object given(key_value const& value) {
  return py::make_tuple(text(value.key), py::bytes(value.value), value.version);
}

py::object given(std::vector<key_value> const& values) { return list_of(values); }

py::object given(key_change const& change) {
  return py::make_tuple(text(change.key), given(change.value), change.version);
}

py::object given(std::vector<key_change> const& changes) { return list_of(changes); }

py::object given(swap_result const& result) {
  return py::make_tuple(result.outcome.ok(), result.version, given(result.found));
}

py::object given(queue_item const& item) {
  return py::make_tuple(py::bytes(item.value), item.number);
}

py::object given(taken_item& item) {
  auto made = py::make_tuple(py::bytes(item.value()), item.number(), item.redeliveries());
  static_cast<void>(item.detach());
  return made;
}

py::object given(held_lock& lock) { return py::int_(lock.detach()); }

py::object given(barrier_failure const& figures) {
  auto const& [round, arrived, expected, missing, missing_cut, known] = figures;
  return py::make_tuple(round.value, arrived, expected, text(missing), missing_cut,
                        tuple_of(known));
}

py::object given(failure const& what) {
  return py::make_tuple(number(what.task), static_cast<int>(what.why.code()),
                        text(what.why.message()));
}

py::object given(job_error const& what) {
  return py::make_tuple(given(what.cause), tuple_of(what.later), what.later_count);
}

py::object given(core::task_progress const& progress) {
  auto const& [step, age, overdue] = progress;
  return py::make_tuple(step, seconds(age), overdue);
}

py::object given(core::snapshot::finished_round const& finished) {
  auto const& [at_number, name, round, at, tasks, outcome, spread, lag, last_task] = finished;
  return py::make_tuple(at_number, text(name), round.value, seconds(at), tasks,
                        static_cast<int>(outcome), seconds(spread), seconds(lag),
                        number(last_task));
}

py::object given(core::snapshot::straggler const& straggler) {
  auto const& [task, times_last, lag_mean, lag_max, of] = straggler;
  return py::make_tuple(task.value, times_last, seconds(lag_mean), seconds(lag_max), of);
}

py::object given(core::snapshot::spare const& spare) {
  auto const& [member, label, peer, age, suspect] = spare;
  return py::make_tuple(text(member), text(label), text(peer), seconds(age), suspect);
}

py::object given(core::snapshot::relay const& relay) {
  auto const& [label, peer, clients, clients_paused, at] = relay;
  return py::make_tuple(text(label), text(peer), clients, clients_paused, seconds(at));
}

py::object given(core::snapshot::lease const& lease) {
  auto const& [queue, item, redeliveries, holder, at, expires] = lease;
  return py::make_tuple(text(queue), item, redeliveries, text(holder), seconds(at),
                        seconds(expires));
}

py::object given(core::snapshot::leadership const& leadership) {
  auto const& [address, term, lag_entries, lag_bytes, lag] = leadership;
  return py::make_tuple(text(address), term, lag_entries, lag_bytes, seconds(lag));
}

py::object given(core::job_state const& state) {
  return py::make_tuple(text(status_page::name_of(state.what)), text(state.headline),
                        state.since ? py::object{text(rfc3339(*state.since))} : py::none(),
                        text(state.tasks), state.tasks_cut);
}

py::object given(core::snapshot::elastic_state const& state) {
  auto const& [epoch, tasks_min, tasks_max, tasks_wanted, ending, over, ready, age] = state;
  return py::make_tuple(epoch, tasks_min, tasks_max, tasks_wanted, text(ending), over, ready,
                        seconds(age));
}

py::object given(core::snapshot::task const& task) {
  auto const& [id, state, suspect, self, last_heard, label, peer, error, recoverable, progress,
               returns_by, ended_with_job] = task;
  return py::make_tuple(id.value, text(name(state)), suspect, self.value, seconds(last_heard),
                        text(label), text(peer), problem(error), recoverable, given(progress),
                        returns_by ? py::object{text(rfc3339(*returns_by))} : py::none(),
                        ended_with_job);
}

py::object given(core::tasks_answer const& tasks) {
  return py::make_tuple(tasks.version, tuple_of(tasks.tasks));
}

py::object given(core::events_answer const& events) {
  return py::make_tuple(tuple_of(events.entries), events.through, events.lost);
}

py::object given(core::snapshot const& whole) {
  auto const& [job, coordinator, version, uptime, tasks, barriers, more_barriers, error, keys,
               key_bytes, sessions, waiting_gets, memory_bytes, memory_bytes_max, lateness_p99,
               lateness_max, deadlines_answered, queued_items, waiting_pops, waiting_key_watches,
               leased_items, locks_held, waiting_locks, stuck_tasks, rounds, stragglers, next_task,
               leader, spares, spares_waiting, relays, more_relays, elastic, leases, state,
               missing] = whole;
  static_cast<void>(next_task);  // there is no further page
  return py::make_tuple(text(job), coordinator.value, text(version), seconds(uptime),
                        tuple_of(tasks), tuple_of(barriers), given(error), tuple_of(rounds),
                        tuple_of(stragglers), tuple_of(spares), tuple_of(relays), tuple_of(leases),
                        tuple_of(missing), given(leader), given(elastic), given(state), keys,
                        key_bytes, sessions, waiting_gets, waiting_pops, queued_items, leased_items,
                        memory_bytes, memory_bytes_max, more_barriers, more_relays, spares_waiting,
                        waiting_key_watches, locks_held, waiting_locks, stuck_tasks,
                        deadlines_answered, seconds(lateness_p99), seconds(lateness_max));
}

py::object given(core::why_answer const& why) {
  return py::make_tuple(tuple_of(why.waits), why.more, text(why.stuck), given(why.state));
}

py::object given(process_update const& result) {
  return py::make_tuple(given(result.tasks), tuple_of(result.lost));
}

py::object given(std::vector<process> const& processes) { return tuple_of(processes); }

}  // namespace coxswain::python
