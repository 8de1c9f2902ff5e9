#include "coxswain/core/keyspace/queue_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <utility>

namespace coxswain::core {

queue_verbs::queue_verbs(concerns& all)
    : blocking_concern{all,
                       {operation_of<pop_args>, blocking_calls::wait::for_anybody,
                        wait_traits::party::task, true, true, why_answer::kind::pop}},
      queues_{kernel_.memory} {}

void queue_verbs::job_failed(time_point, status const& why, barrier_failure const*) {
  calls_.answer_all(queues_.take_all_waiters(),
                    calls_.share(status{errc::cancelled, why.message()}));
}

void queue_verbs::cancel(ticket, parked const& p) { queues_.cancel(p.name.get(), p.number); }

answer_ptr queue_verbs::overdue(time_point now, parked const& p) {
  return calls_.share(
      status{errc::deadline_exceeded,
             "queue " + quoted(p.name.get()) + " got no item within " + in_words(now - p.since)});
}

std::string queue_verbs::missing_text(time_point, ticket, parked const& p) {
  return goal_text(p) + " has no item";
}

std::string queue_verbs::goal_text(parked const& p) const {
  return "queue " + quoted(p.name.get());
}

std::string queue_verbs::stuck_text(parked const& p) const {
  return "for " + goal_text(p) + ", which no task is left to fill";
}

std::size_t queue_verbs::waiting() const { return queues_.waiting(); }

void queue_verbs::check(ticket, parked const& p) const {
  invariant(queues_.length(std::string{p.name.get()}) == 0,
            "who waits for an item waits at an empty queue");
}

void queue_verbs::check_invariants() const {
  invariant(queues_.settled(), "nobody waits for an item that is there");
  invariant(!error_ || queues_.waiting() == 0, "nobody waits for an item once the job has failed");
}

void queue_verbs::handle(call const& c, push_args& args) {
  if (status why = concerns_.keys.checked_key(args.queue, "queue's name"); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  if (status why = concerns_.keys.checked_value(args.value.size()); !why.ok())
    return calls_.refuse(c, std::move(why));
  status why = concerns_.keys.store().make_room(args.value.size(), queues::overhead(args.queue));
  if (!why.ok()) return calls_.answer_now(c, calls_.share(std::move(why)), true);
  queues_.push(args.queue, std::move(args.value));
  bool const is_taken = queues_.to_be_served(args.queue).has_value();
  calls_.answer_now(c, calls_.share(count_answer{is_taken ? 0 : queues_.length(args.queue)}), true);
  serve(args.queue);
}

void queue_verbs::handle(call const& c, pop_args& args) {
  if (status why = concerns_.keys.checked_key(args.queue, "queue's name"); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  if (auto item = queues_.pop(args.queue)) return hand_over(c.from, args.queue, *std::move(item));
  if (error_) return calls_.refuse(c, kernel_.job_failed(errc::cancelled));
  if (status why = kernel_.room_to_wait(c.by, kernel::memory_per_request); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  std::uint64_t const waiter = queues_.wait(args.queue, c.from);
  calls_.park(c, *this, {waiter, std::move(args.queue)}, args.timeout);
}

// Hands items to waiting pops.
void queue_verbs::serve(std::string const& queue) {
  while (auto const who = queues_.to_be_served(queue)) {
    calls_.release(*who);
    hand_over(*who, queue, *queues_.pop(queue));
  }
}

void queue_verbs::hand_over(ticket who, std::string const& queue, queues::item item) {
  kernel_.tally.count_request(operation_of<pop_args>, errc::ok);
  sessions_.hand_over(who, calls_.share(value_answer{std::move(item.value), item.number}), index(),
                      queue);
}

void queue_verbs::put_back(std::vector<undelivered> items) {
  for (undelivered const& one : items) {
    auto const& item = std::get<value_answer>(one.what->value);
    queues_.put_back(one.name, {item.version, item.value});
  }
  for (undelivered const& one : items) serve(one.name);
}

}  // namespace coxswain::core
