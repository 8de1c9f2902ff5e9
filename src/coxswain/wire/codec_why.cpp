// Waits <-> v1::WhyReply, and missing tasks <-> v1::BarrierFailure.

#include "coxswain/wire/codec_fields.hpp"

#include <utility>

namespace coxswain::wire {
namespace {

// The overloads of codec_fields.hpp, which those below would hide.
using wire::decode;
using wire::encode;

using kind = core::why_answer::kind;

// The enumerations are the same on both sides, by number.
static_assert(static_cast<int>(kind::barrier) == v1::WhyReply::BARRIER);
static_assert(static_cast<int>(kind::count_barrier) == v1::WhyReply::COUNT_BARRIER);
static_assert(static_cast<int>(kind::join) == v1::WhyReply::JOIN);
static_assert(static_cast<int>(kind::leave) == v1::WhyReply::LEAVE);
static_assert(static_cast<int>(kind::topology) == v1::WhyReply::TOPOLOGY);
static_assert(static_cast<int>(kind::alive) == v1::WhyReply::ALIVE);
static_assert(static_cast<int>(kind::preemption) == v1::WhyReply::PREEMPTION);
static_assert(static_cast<int>(kind::get) == v1::WhyReply::GET);
static_assert(static_cast<int>(kind::get_all) == v1::WhyReply::GET_ALL);
static_assert(static_cast<int>(kind::pop) == v1::WhyReply::POP);
static_assert(static_cast<int>(core::why_answer::last_kind) == v1::WhyReply::Kind_MAX);

kind decode(v1::WhyReply::Kind from) {
  return v1::WhyReply::Kind_IsValid(from) ? static_cast<kind>(from) : kind::barrier;
}

void encode(missing_task const& from, v1::MissingTask& to) {
  to.set_task(from.task.value);
  to.set_state(encode(from.state));
  to.set_suspect(from.suspect);
  if (from.last_heard) to.set_last_heard_ms_ago(to_milliseconds(*from.last_heard));
  to.set_label(text(from.label));
  to.set_waits_for(text(from.waits_for));
  if (from.step) to.set_step(*from.step);
}

missing_task decode(v1::MissingTask& from) {
  missing_task to;
  to.task = task_id{from.task()};
  to.state = decode(from.state());
  to.suspect = from.suspect();
  if (from.has_last_heard_ms_ago()) to.last_heard = from_milliseconds(from.last_heard_ms_ago());
  to.label = std::move(*from.mutable_label());
  to.waits_for = std::move(*from.mutable_waits_for());
  if (from.has_step()) to.step = from.step();
  return to;
}

void encode(core::why_answer::wait const& from, v1::WhyReply::Wait& to) {
  to.set_kind(static_cast<v1::WhyReply::Kind>(from.what));
  to.set_name(from.name);
  to.set_waiting(text(from.waiting));
  to.set_cut(from.cut);
  to.set_others(from.others);
  if (from.missing) encode(*from.missing, *to.mutable_missing());
  to.set_age_ms(to_milliseconds(from.age));
  if (from.remaining) to.set_remaining_ms(to_milliseconds(*from.remaining));
  to.set_stuck(from.stuck);
}

core::why_answer::wait decode(v1::WhyReply::Wait& from) {
  core::why_answer::wait to;
  to.what = decode(from.kind());
  to.name = std::move(*from.mutable_name());
  to.waiting = std::move(*from.mutable_waiting());
  to.cut = from.cut();
  to.others = from.others();
  if (from.has_missing()) to.missing = decode(*from.mutable_missing());
  to.age = from_milliseconds(from.age_ms());
  if (from.has_remaining_ms()) to.remaining = from_milliseconds(from.remaining_ms());
  to.stuck = from.stuck();
  return to;
}

}  // namespace

void encode(barrier_failure const& from, v1::BarrierFailure& to) {
  to.set_round(from.round.value);
  to.set_arrived(from.arrived);
  to.set_expected(from.expected);
  to.set_missing(text(from.missing));
  to.set_missing_cut(from.missing_cut);
  for (auto const& task : from.known) encode(task, *to.add_known());
}

barrier_failure decode(v1::BarrierFailure& from) {
  barrier_failure to;
  to.round = round_number{from.round()};
  to.arrived = from.arrived();
  to.expected = from.expected();
  to.missing = std::move(*from.mutable_missing());
  to.missing_cut = from.missing_cut();
  for (auto& task : *from.mutable_known()) to.known.push_back(decode(task));
  return to;
}

void encode(core::why_answer const& from, v1::WhyReply& to) {
  for (auto const& wait : from.waits) encode(wait, *to.add_waits());
  to.set_more(from.more);
  to.set_stuck(text(from.stuck));
}

core::why_answer decode(v1::WhyReply& from) {
  core::why_answer to;
  to.waits.reserve(static_cast<std::size_t>(from.waits_size()));
  for (auto& wait : *from.mutable_waits()) to.waits.push_back(decode(wait));
  to.more = from.more();
  to.stuck = std::move(*from.mutable_stuck());
  return to;
}

}  // namespace coxswain::wire
