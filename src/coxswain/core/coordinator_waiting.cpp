// What is said of those for whom others wait, and of what one call waits for.

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// How much is said of missing tasks: their ranges in so many bytes, and what is known of so many.
constexpr std::size_t range_bytes_max = 4096;
constexpr std::size_t known_max = 16;
constexpr std::size_t brief_range_bytes_max = 256;
constexpr std::size_t brief_known_max = 4;

// Tasks that are looked at quickly: whether they are missing.
constexpr std::size_t tasks_per_step = 16;

}  // namespace

void coordinator::state::tell_waiting(time_point now, session& to, ticket asked) {
  parked const* const p = sessions_.parked_at(asked);
  if (p) sessions_.push(to, share(waiting{asked.request, waiting_text(now, asked, *p)}));
}

std::string coordinator::state::waiting_text(time_point now, ticket asked, parked const& p) {
  waiting_texts::place place{p.where, static_cast<std::int64_t>(p.number), {}};
  switch (p.where) {
    case parked::place::key:
    case parked::place::keys: return read_text(p) + " has no value";
    case parked::place::queue: return read_text(p) + " has no item";
    case parked::place::key_changes:
    case parked::place::tasks:
    case parked::place::events: return "nothing has changed";
    case parked::place::count_barrier: {
      auto const& w = count_barriers_.all().at(p.name.get());
      return std::to_string(w.arrived.size()) + " of " + std::to_string(w.count) + " have arrived";
    }
    case parked::place::sync_point:
    case parked::place::preemption:
    case parked::place::barrier:
    case parked::place::alive: break;
    case parked::place::topology: std::get<std::string>(place) = p.name.get(); break;
    case parked::place::join: {
      auto const* const arrival = join_.is_open() ? join_.arrival_of(*p.task) : nullptr;
      if (!arrival || arrival->who != asked) {
        return who(*p.task) + " is held by another incarnation, from " +
               from_of(roster_.at(*p.task)).peer() + ", which was asked whether it lives";
      }
      std::get<std::int64_t>(place) = join_.opened().time_since_epoch().count();
      break;
    }
    case parked::place::leave:
      std::get<std::int64_t>(place) = leave_.opened().time_since_epoch().count();
      break;
  }
  return waiting_texts_.at(now, std::move(place), [&] {
    tally.steps += roster_.size() / tasks_per_step;
    return missing_text(now, p);
  });
}

std::string coordinator::state::missing_text(time_point now, parked const& p) const {
  if (p.where == parked::place::alive) {
    auto const& q = alive_queries_.all().at(p.number);
    return missing_text(now, describe(now, awaited(q), q.members->size(), true));
  }
  if (p.where == parked::place::preemption || p.where == parked::place::sync_point) {
    std::vector<task_id> missing = awaited_for_agreement();
    auto const all = static_cast<std::uint32_t>(preemption_.answers().size() + missing.size());
    return missing_text(now, describe(now, std::move(missing), all, true));
  }
  meeting const* m = p.where == parked::place::join ? &join_ : &leave_;
  if (p.where == parked::place::barrier) m = &barriers_.open_round(p.number)->round;
  if (p.where == parked::place::topology) m = &topologies_.find(p.name.get())->waiting;
  return missing_text(now, describe(now, awaited(*m), m->expected().size(), true));
}

barrier_failure coordinator::state::describe(time_point now, std::vector<task_id> missing,
                                             std::uint32_t expected, bool in_brief) const {
  task_ranges text = ranges(missing, in_brief ? brief_range_bytes_max : range_bytes_max);
  barrier_failure f;
  f.expected = expected;
  f.arrived = expected - static_cast<std::uint32_t>(missing.size());
  f.missing = std::move(text.text);
  f.missing_cut = text.cut;
  missing.resize(std::min(missing.size(), in_brief ? brief_known_max : known_max));
  for (task_id const id : missing) f.known.push_back(describe_missing(now, id));
  return f;
}

}  // namespace coxswain::core
