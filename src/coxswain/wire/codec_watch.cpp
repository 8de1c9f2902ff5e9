// Watches: alive tasks, all tasks, events <-> v1::AliveReply, v1::Tasks, v1::Events.

#include "coxswain/wire/codec_fields.hpp"

#include <utility>

namespace coxswain::wire {

// The enumerations are the same on both sides, by number.
static_assert(static_cast<int>(core::severity::info) == v1::INFO);
static_assert(static_cast<int>(core::severity::warning) == v1::WARNING);
static_assert(static_cast<int>(core::severity::error) == v1::ERROR);
static_assert(static_cast<int>(core::event_kind::other) == v1::Events::OTHER);
static_assert(static_cast<int>(core::event_kind::joined) == v1::Events::JOINED);
static_assert(static_cast<int>(core::event_kind::left) == v1::Events::LEFT);
static_assert(static_cast<int>(core::event_kind::failed) == v1::Events::FAILED);
static_assert(static_cast<int>(core::event_kind::suspect) == v1::Events::SUSPECT);
static_assert(static_cast<int>(core::event_kind::back) == v1::Events::BACK);
static_assert(static_cast<int>(core::event_kind::round_failed) == v1::Events::ROUND_FAILED);
static_assert(static_cast<int>(core::event_kind::job_failed) == v1::Events::JOB_FAILED);
static_assert(static_cast<int>(core::event_kind::waiting) == v1::Events::WAITING);
static_assert(static_cast<int>(core::event_kind::refused) == v1::Events::REFUSED);
static_assert(static_cast<int>(core::event_kind::stalled) == v1::Events::STALLED);
static_assert(static_cast<int>(core::event_kind::stopping) == v1::Events::STOPPING);
static_assert(static_cast<int>(core::event_kind::stuck) == v1::Events::STUCK);
static_assert(static_cast<int>(core::event_kind::no_progress) == v1::Events::NO_PROGRESS);
static_assert(static_cast<int>(core::event_kind::joining) == v1::Events::JOINING);
static_assert(static_cast<int>(core::event_kind::credentials_replaced) ==
              v1::Events::CREDENTIALS_REPLACED);
static_assert(static_cast<int>(core::event_kind::challenged) == v1::Events::CHALLENGED);
static_assert(static_cast<int>(core::event_kind::ended) == v1::Events::ENDED);
static_assert(static_cast<int>(core::event_kind::reset) == v1::Events::RESET);
static_assert(static_cast<int>(core::event_kind::preemption) == v1::Events::PREEMPTION);
static_assert(static_cast<int>(core::event_kind::topology) == v1::Events::TOPOLOGY);
static_assert(static_cast<int>(core::event_kind::unstuck) == v1::Events::UNSTUCK);
static_assert(static_cast<int>(core::event_kind::restarted) == v1::Events::RESTARTED);

v1::Severity encode(core::severity from) { return static_cast<v1::Severity>(from); }

core::severity decode(v1::Severity from) {
  return v1::Severity_IsValid(from) ? static_cast<core::severity>(from) : core::severity::info;
}

void encode(core::alive_answer const& from, v1::AliveReply& to) {
  for (auto const& task : from.tasks) {
    auto& added = *to.add_tasks();
    added.set_task(task.id.value);
    added.set_incarnation(task.self.value);
  }
}

core::alive_answer decode(v1::AliveReply& from) {
  core::alive_answer to;
  to.tasks.reserve(static_cast<std::size_t>(from.tasks_size()));
  for (auto const& task : from.tasks()) {
    to.tasks.push_back({task_id{task.task()}, incarnation{task.incarnation()}});
  }
  return to;
}

void encode(core::tasks_answer const& from, v1::Tasks& to) {
  to.set_version(from.version);
  for (auto const& task : from.tasks) encode(task, *to.add_tasks());
}

core::tasks_answer decode(v1::Tasks& from) {
  core::tasks_answer to;
  to.version = from.version();
  to.tasks.reserve(static_cast<std::size_t>(from.tasks_size()));
  for (auto& task : *from.mutable_tasks()) to.tasks.push_back(decode(task));
  return to;
}

namespace {

// The overloads of codec_fields.hpp, which those below would hide.
using wire::decode;
using wire::encode;

core::event_kind decode(v1::Events::Kind from) {
  return v1::Events::Kind_IsValid(from) ? static_cast<core::event_kind>(from)
                                        : core::event_kind::other;
}

void encode(core::events_answer::entry const& from, v1::Events::Event& to) {
  to.set_number(from.number);
  to.set_at_ms(to_milliseconds(from.at));
  to.set_severity(encode(from.what.level));
  to.set_kind(static_cast<v1::Events::Kind>(from.what.kind));
  if (from.what.task) to.set_task(from.what.task->value);
  to.set_barrier(from.what.barrier);
  to.set_text(text(from.what.text));
  to.set_unix_ms(from.time.unix_ms);
  to.set_utc_offset_s(from.time.utc_offset_s);
  to.set_first(from.first);
  to.set_first_at_ms(to_milliseconds(from.first_at));
  to.set_count(from.count);
  to.set_tasks(from.tasks);
  to.set_tasks_cut(from.tasks_cut);
}

core::events_answer::entry decode(v1::Events::Event& from) {
  core::events_answer::entry to;
  to.number = from.number();
  to.at = from_milliseconds(from.at_ms());
  to.what.level = decode(from.severity());
  to.what.kind = decode(from.kind());
  if (from.has_task()) to.what.task = task_id{from.task()};
  to.what.barrier = std::move(*from.mutable_barrier());
  to.what.text = std::move(*from.mutable_text());
  to.time = {from.unix_ms(), from.utc_offset_s()};
  to.first = from.first();
  to.first_at = from_milliseconds(from.first_at_ms());
  to.count = from.count();
  to.tasks = std::move(*from.mutable_tasks());
  to.tasks_cut = from.tasks_cut();
  return to;
}

}  // namespace

void encode(core::events_answer const& from, v1::Events& to) {
  for (auto const& one : from.entries) encode(one, *to.add_events());
  to.set_through(from.through);
  to.set_lost(from.lost);
}

core::events_answer decode(v1::Events& from) {
  core::events_answer to;
  to.entries.reserve(static_cast<std::size_t>(from.events_size()));
  for (auto& one : *from.mutable_events()) to.entries.push_back(decode(one));
  to.through = from.through();
  to.lost = from.lost();
  return to;
}

}  // namespace coxswain::wire
