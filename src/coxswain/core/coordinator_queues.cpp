// Queues: push, pop, and items whose consumer died before it had them.

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <utility>

namespace coxswain::core {

void coordinator::state::handle(call const& c, push_args& args) {
  if (status why = checked_key(args.queue, "queue's name"); !why.ok()) {
    return refuse(c, std::move(why));
  }
  if (status why = checked_value(args.value.size()); !why.ok()) return refuse(c, std::move(why));
  status why = keys_.make_room(args.value.size(), queues::overhead(args.queue));
  if (!why.ok()) return answer_now(c, share(std::move(why)), true);
  queues_.push(args.queue, std::move(args.value));
  bool const is_taken = queues_.to_be_served(args.queue).has_value();
  answer_now(c, share(count_answer{is_taken ? 0 : queues_.length(args.queue)}), true);
  serve(args.queue);
}

void coordinator::state::handle(call const& c, pop_args& args) {
  if (status why = checked_key(args.queue, "queue's name"); !why.ok()) {
    return refuse(c, std::move(why));
  }
  if (auto item = queues_.pop(args.queue)) return hand_over(c.from, args.queue, *std::move(item));
  if (error) return refuse(c, job_failed(errc::cancelled));
  if (status why = room_to_wait(c.by, memory_per_request); !why.ok()) {
    return refuse(c, std::move(why));
  }
  parked p;
  p.where = parked::place::queue;
  p.task = c.task;
  p.number = queues_.wait(args.queue, c.from);
  p.name = std::move(args.queue);
  arm_call(c, p, args.timeout);
  park(c, std::move(p));
}

// Gives items to those who wait for them.
void coordinator::state::serve(std::string const& queue) {
  while (auto const who = queues_.to_be_served(queue)) {
    release(*who);
    hand_over(*who, queue, *queues_.pop(queue));
  }
}

void coordinator::state::hand_over(ticket who, std::string const& queue, queues::item item) {
  tally.count_request(operation_of<pop_args>, errc::ok);
  sessions_.hand_over(who, share(value_answer{std::move(item.value), item.number}), queue);
}

void coordinator::state::put_back(std::vector<undelivered> items) {
  for (undelivered& one : items) queues_.put_back(one.queue, {one.number, std::move(one.value)});
  for (undelivered const& one : items) serve(one.queue);
}

}  // namespace coxswain::core
