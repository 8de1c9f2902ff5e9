#include "coxswain/core/rendezvous/count_barrier_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

namespace coxswain::core {

count_barrier_verbs::count_barrier_verbs(concerns& all)
    : blocking_concern{all,
                       {operation_id<count_barrier_args>, blocking_calls::wait::for_outsiders}},
      count_barriers_{options_.idle_barriers_max} {}

void count_barrier_verbs::stopping(time_point, status const& why) {
  std::vector<ticket> waiting;
  for (auto const& [_, barrier] : count_barriers_.all()) {
    for (auto const& [number, waiter] : barrier.arrived) waiting.push_back(waiter);
  }
  calls_.answer_all(waiting, calls_.share(why));
}

void count_barrier_verbs::cancel(ticket, parked const& p) {
  count_barriers_.cancel(p.name.get(), p.number);
}

answer_ptr count_barrier_verbs::overdue(time_point now, parked const& p) {
  auto const& w = count_barriers_.all().at(p.name.get());
  return calls_.share(fail<&reasons::count_barrier_timed_out>(p.name.get(), now - p.since,
                                                              w.arrived.size(), w.count));
}

std::string count_barrier_verbs::missing_text(time_point, ticket, parked const& p) {
  auto const& w = count_barriers_.all().at(p.name.get());
  return std::to_string(w.arrived.size()) + " of " + std::to_string(w.count) + " have arrived";
}

std::string count_barrier_verbs::goal_text(parked const& p) const {
  return "count barrier " + in_quotes(p.name.get());
}

std::string count_barrier_verbs::stuck_text(parked const& p) const { return "at " + goal_text(p); }

std::size_t count_barrier_verbs::waiting() const {
  std::size_t counted = 0;
  for (auto const& [_, w] : count_barriers_.all()) counted += w.arrived.size();
  return counted;
}

void count_barrier_verbs::check(ticket who, parked const& p) const {
  auto const& arrived = count_barriers_.all().at(p.name.get()).arrived;
  invariant(arrived.at(p.number) == who, "who waits at a count barrier is counted there");
}

void count_barrier_verbs::check_invariants() const {
  for (auto const& [_, w] : count_barriers_.all()) {
    invariant(!w.arrived.empty() && w.arrived.size() < w.count, "a count barrier waits for more");
  }
}

void count_barrier_verbs::handle(call const& c, count_barrier_args& args) {
  if (status why = concerns_.barriers.checked_name(args.name); !why.ok())
    return calls_.refuse(c, std::move(why));
  auto const arrived = count_barriers_.arrive(c.now, args.name, args.count, c.from);
  if (!arrived) return calls_.refuse(c, arrived.error());
  calls_.park(c, *this, {*arrived, args.name}, args.timeout);
  auto const released = count_barriers_.take_complete(args.name);
  calls_.answer_all(released.tickets, calls_.share(barrier_answer{released.number, {}}));
}

}  // namespace coxswain::core
