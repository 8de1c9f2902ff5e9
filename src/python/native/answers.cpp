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

py::str text(std::string_view said) {
  auto* const made =
      PyUnicode_DecodeUTF8(said.data(), static_cast<Py_ssize_t>(said.size()), "replace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

py::object given(missing_task const& task) {
  return py::make_tuple(task.task.value, text(name(task.state)), task.suspect,
                        seconds(task.last_heard), text(task.label), text(task.waits_for),
                        number(task.step));
}

py::object given(core::events_answer::entry const& entry) {
  return py::make_tuple(entry.number, seconds(entry.at), status_page::name_of(entry.what.level),
                        words(status_page::name_of(entry.what.kind)), number(entry.what.task),
                        text(entry.what.barrier), text(entry.what.text), rfc3339(entry.time),
                        entry.count, entry.first, seconds(entry.first_at), text(entry.tasks),
                        entry.tasks_cut);
}

py::object given(core::snapshot::barrier const& one) {
  return py::make_tuple(name_of(one.what), text(one.name), one.round.value, one.arrived,
                        one.expected, text(one.missing), one.missing_cut, seconds(one.age),
                        seconds(one.remaining));
}

py::object given(core::why_answer::wait const& one) {
  return py::make_tuple(words(status_page::name_of(one.what)), text(one.name), text(one.waiting),
                        one.cut, one.others, one.missing ? given(*one.missing) : py::none(),
                        seconds(one.age), seconds(one.remaining), one.stuck);
}

py::object given(core::epoch_answer const& one) {
  return py::make_tuple(one.number, one.size, one.rank.value, text(one.address), one.lost,
                        one.joined);
}

py::object given(core::epoch_members_answer::member const& one) {
  return py::make_tuple(text(one.name), one.self.value, text(one.label), text(one.peer),
                        one.survivor);
}

py::object given(core::epoch_members_answer const& all) {
  return py::make_tuple(all.epoch, tuple_of(all.members));
}

py::object given(core::epoch_ends const& what) {
  static constexpr std::array<char const*, 3> causes{"lost", "joiners", "asked"};
  return py::make_tuple(causes.at(static_cast<std::size_t>(what.why)), text(what.text),
                        what.joiners);
}

py::object given(process const& one) {
  return py::make_tuple(one.task.value, one.incarnation.value);
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

py::object given(barrier_failure const& figures) {
  return py::make_tuple(figures.round.value, figures.arrived, figures.expected,
                        text(figures.missing), figures.missing_cut, tuple_of(figures.known));
}

py::object given(failure const& what) {
  return py::make_tuple(number(what.task), static_cast<int>(what.why.code()),
                        text(what.why.message()));
}

py::object given(job_error const& what) {
  return py::make_tuple(given(what.cause), tuple_of(what.later), what.later_count);
}

py::object given(core::snapshot::task const& task) {
  py::object progress = py::none();
  if (task.progress) progress = py::make_tuple(task.progress->step, seconds(task.progress->age));
  return py::make_tuple(task.id.value, text(name(task.state)), task.suspect, task.self.value,
                        seconds(task.last_heard), text(task.label), text(task.peer),
                        problem(task.error), task.recoverable, std::move(progress));
}

py::object given(core::tasks_answer const& tasks) {
  return py::make_tuple(tasks.version, tuple_of(tasks.tasks));
}

py::object given(core::events_answer const& events) {
  return py::make_tuple(tuple_of(events.entries), events.through, events.lost);
}

py::object given(core::snapshot const& job) {
  return py::make_tuple(text(job.job), job.coordinator.value, text(job.version),
                        seconds(job.uptime), tuple_of(job.tasks), tuple_of(job.barriers),
                        job.error ? given(*job.error) : py::none(), job.keys, job.key_bytes,
                        job.sessions, job.waiting_gets, job.waiting_pops, job.queued_items,
                        job.memory_bytes, job.memory_bytes_max, job.more_barriers);
}

py::object given(core::why_answer const& why) {
  return py::make_tuple(tuple_of(why.waits), why.more, text(why.stuck));
}

py::object given(process_news const& news) {
  return py::make_tuple(given(news.tasks), tuple_of(news.lost));
}

py::object given(std::vector<process> const& processes) { return tuple_of(processes); }

}  // namespace coxswain::python
