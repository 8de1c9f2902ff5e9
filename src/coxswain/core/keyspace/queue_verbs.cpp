#include "coxswain/core/keyspace/queue_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/observe/picture_budget.hpp"
#include "coxswain/core/observe/wait_graph.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace coxswain::core {
namespace {

// Leased items in a snapshot of the job.
constexpr std::size_t leases_shown_max = 20;

// The queue of a popped item and its redeliveries so far, in case the reply is not received.
std::string source_of_popped(std::string const& queue, std::uint32_t redeliveries) {
  return queue + '\0' + std::to_string(redeliveries);
}

std::pair<std::string, std::uint32_t> parsed_source(std::string const& source) {
  auto const end = source.rfind('\0');
  return {source.substr(0, end), static_cast<std::uint32_t>(std::stoul(source.substr(end + 1)))};
}

}  // namespace

queue_verbs::queue_verbs(concerns& all)
    : blocking_concern{all,
                       {operation_id<pop_args>, blocking_calls::wait::for_anybody,
                        wait_traits::party::task, true, true, why_answer::kind::pop}},
      queues_{kernel_.memory},
      leases_{kernel_.memory} {}

void queue_verbs::job_failed(time_point, status const& why, barrier_failure const*) {
  calls_.answer_all(queues_.take_all_waiters(),
                    calls_.share(status{errc::cancelled, why.message()}));
}

void queue_verbs::stopping(time_point now, status const& why) {
  job_failed(now, why, nullptr);
  while (leases_.size() != 0) return_item(leases_.all().begin()->first);
}

void queue_verbs::cancel(ticket, parked const& p) { queues_.cancel(p.name.get(), p.number); }

answer_ptr queue_verbs::overdue(time_point now, parked const& p) {
  return calls_.share(
      fail<&reasons::no_item_in_time>(p.name.get(), now - p.since, leased_text(p.name.get())));
}

std::string queue_verbs::missing_text(time_point, ticket, parked const& p) {
  return goal_text(p) + " has no item" + leased_text(p.name.get());
}

std::string queue_verbs::goal_text(parked const& p) const {
  return "queue " + in_quotes(p.name.get());
}

std::string queue_verbs::stuck_text(parked const& p) const {
  return "for " + goal_text(p) + ", which no task is left to fill";
}

operation queue_verbs::request_of(parked const& p) const {
  return queues::takes(p.number) ? operation_id<take_args> : traits().request;
}

// Not as `awaited`: another client can push an item.
void queue_verbs::describe(parked const& p, why_answer::wait& in) const {
  auto const [first, count] = leases_.held_of(p.name.get());
  if (count == 0) return;
  barrier_failure& f = in.missing.emplace();
  f.expected = static_cast<std::uint32_t>(count);
  f.missing = holder_text(leases_.all().at(first));
}

// An item may come back: when its lease expires, or from a client outside the job.
void queue_verbs::add_to(wait_graph& g, picture_budget& budget) const {
  for (auto const& [_, lease] : leases_.all()) {
    if (!budget.take(1)) break;
    if (!queues_.has_waiters(lease.queue)) continue;
    session const& owner = *sessions_.find(lease.owner);
    bool const is_outside = owner.tasks.empty() && !owner.guest_of;
    if (lease.expiry.armed() || is_outside) return g.outsider_acts();
  }
}

void queue_verbs::show(snapshot& in) const {
  in.leased_items = leases_.size();
  for (auto const& [item, lease] : leases_.all()) {
    if (in.leases.size() == leases_shown_max) break;
    auto const end = deadlines_.when(lease.expiry);
    in.leases.push_back({lease.queue, item, lease.redeliveries,
                         kernel_.whose(*sessions_.find(lease.owner)),
                         lease.since.since - kernel_.started,
                         end ? std::optional{*end - kernel_.started} : std::nullopt});
  }
}

// "task 1 (b12:3391), redelivery 3"
std::string queue_verbs::holder_text(leases::lease const& of) const {
  std::string text = kernel_.whose(*sessions_.find(of.owner));
  if (of.redeliveries > 0) text += ", redelivery " + std::to_string(of.redeliveries);
  return text;
}

// "; 2 are leased, the first to task 1 (b12:3391)"
std::string queue_verbs::leased_text(std::string const& queue) const {
  auto const [first, count] = leases_.held_of(queue);
  if (count == 0) return {};
  return "; " + std::to_string(count) + (count == 1 ? " is leased" : " are leased, the first") +
         " to " + holder_text(leases_.all().at(first));
}

std::size_t queue_verbs::waiting() const { return queues_.waiting(); }

std::size_t queue_verbs::armed() const {
  std::size_t count = 0;
  for (auto const& [_, lease] : leases_.all()) count += lease.expiry.armed() ? 1 : 0;
  return count;
}

void queue_verbs::check(ticket, parked const& p) const {
  invariant(queues_.length(std::string{p.name.get()}) == 0,
            "who waits for an item waits at an empty queue");
}

void queue_verbs::check_invariants() const {
  invariant(queues_.settled(), "nobody waits for an item that is there");
  invariant(leases_.is_consistent(), "a lease is known by its owner and its queue");
  for (auto const& [_, lease] : leases_.all()) {
    invariant(sessions_.find(lease.owner) || kernel_.stopping, "the holder of an item is there");
    invariant(lease.expiry.armed() == (lease.time != without_limit),
              "a lease with a limit expires");
  }
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

void queue_verbs::count(call const& c, std::string& queue) {
  if (status why = concerns_.keys.checked_key(queue, "queue's name"); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  calls_.answer_now(c, calls_.share(count_answer{queues_.length(queue)}), false);
}

void queue_verbs::handle(call const& c, pop_args& args) {
  take(c, args.queue, args.timeout, std::nullopt);
}

void queue_verbs::handle(call const& c, take_args& args) {
  if (args.lease <= 0s) return calls_.refuse<&reasons::lease_is_too_short>(c);
  take(c, args.queue, args.timeout, args.lease);
}

void queue_verbs::take(call const& c, std::string& queue, duration timeout,
                       std::optional<duration> lease) {
  if (status why = concerns_.keys.checked_key(queue, "queue's name"); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  if (lease) {
    if (status why = sessions_.room_for(c.by, leases::cost(queue), true); !why.ok()) {
      return calls_.refuse(c, std::move(why));
    }
  }
  if (auto item = queues_.pop(queue)) return hand_over({c.from, lease}, queue, *std::move(item));
  if (error_) return calls_.refuse(c, kernel_.job_failed(errc::cancelled));
  if (status why = kernel_.room_to_wait(c.by, kernel::memory_per_request); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  std::uint64_t const waiter = queues_.wait(queue, {c.from, lease});
  calls_.park(c, *this, {waiter, std::move(queue)}, timeout);
}

void queue_verbs::handle(call const& c, update_lease_args& args) {
  leases::lease* const lease = held(c, args);
  if (!lease) return;
  switch (args.change) {
    case lease_change::finish: end_lease(args.item); break;
    case lease_change::release:
      ++kernel_.tally.leases_returned;
      return_item(args.item);
      break;
    case lease_change::extend:
      if (args.lease <= 0s) return calls_.refuse<&reasons::lease_is_too_short>(c);
      lease->time = args.lease;
      lease->since = kernel_.alive_since(c.now);
      arm(args.item, *lease);
      break;
    case lease_change::unknown:
      return calls_.refuse(c, fail_as<&reasons::unknown_kind>(
                                  errc::invalid_argument, options_.version, "change of a lease"));
  }
  calls_.answer_now(c, calls_.share(status{}), true);
}

leases::lease* queue_verbs::held(call const& c, update_lease_args const& args) {
  leases::lease* const lease = leases_.find(args.item);
  if (!lease) {
    calls_.refuse<&reasons::item_is_not_leased>(c, args.item);
    return nullptr;
  }
  if (lease->owner == c.from.session && lease->redeliveries == args.redeliveries) return lease;
  calls_.refuse<&reasons::lease_is_over>(c, args.item, lease->queue,
                                         kernel_.whose(*sessions_.find(lease->owner)),
                                         lease->redeliveries);
  return nullptr;
}

// Hands items to waiting calls.
void queue_verbs::serve(std::string const& queue) {
  while (auto const next = queues_.to_be_served(queue)) {
    calls_.release(next->who);
    hand_over(*next, queue, *queues_.pop(queue));
  }
}

void queue_verbs::hand_over(queues::waiter to, std::string const& queue, queues::item item) {
  operation const asked = to.lease ? operation_id<take_args> : operation_id<pop_args>;
  kernel_.tally.count_request(asked, errc::ok);
  if (to.lease) lend(to, queue, item);
  auto const redeliveries = to.lease ? std::optional{item.redeliveries} : std::nullopt;
  sessions_.hand_over(to.who,
                      calls_.share(value_answer{std::move(item.value), item.number, redeliveries}),
                      index(), to.lease ? queue : source_of_popped(queue, item.redeliveries));
}

void queue_verbs::lend(queues::waiter const& to, std::string const& queue,
                       queues::item const& item) {
  leases::lease what;
  what.queue = queue;
  what.value = item.value;
  what.redeliveries = item.redeliveries;
  what.owner = to.who.session;
  what.time = *to.lease;
  what.since = kernel_.alive_since(kernel_.observed());
  sessions_.hold(*sessions_.find(what.owner), leases::cost(queue));
  arm(item.number, leases_.add(item.number, std::move(what)));
}

void queue_verbs::arm(leases::number item, leases::lease& lease) {
  if (lease.time == without_limit) return deadlines_.disarm(lease.expiry);
  deadlines_.arm(lease.expiry, {kernel_.credited(lease.since, lease.time), due::lease, item});
}

void queue_verbs::lease_due(time_point now, leases::number item) {
  leases::lease& lease = *leases_.find(item);
  if (kernel_.credited(lease.since, lease.time) > now) return arm(item, lease);
  ++kernel_.tally.leases_expired;
  kernel_.log(severity::warning, event_kind::other,
              "item " + std::to_string(item) + " of queue " + in_quotes(lease.queue) +
                  " returns to its place: its lease of " + in_words(lease.time) +
                  " expired, held by " + kernel_.whose(*sessions_.find(lease.owner)));
  return_item(item);
}

queues::item queue_verbs::end_lease(leases::number item) {
  leases::lease& lease = *leases_.find(item);
  deadlines_.disarm(lease.expiry);
  if (session* const owner = sessions_.find(lease.owner)) {
    sessions_.let_go(*owner, leases::cost(lease.queue));
  }
  concerns_.why.plan_review();
  return leases_.end(item);
}

void queue_verbs::return_item(leases::number item) {
  std::string const queue = leases_.find(item)->queue;
  queues_.put_back(queue, end_lease(item));
  serve(queue);
}

void queue_verbs::return_items_of(session_id owner) {
  while (auto const item = leases_.first_of(owner)) {
    ++kernel_.tally.leases_returned;
    return_item(*item);
  }
}

void queue_verbs::put_back(std::vector<undelivered> items) {
  std::vector<std::string> changed;
  for (undelivered const& answer : items) {
    auto const& item = std::get<value_answer>(answer.what->value);
    if (item.redeliveries) {
      leases::lease const* const lent = leases_.find(item.version);
      if (!lent || lent->redeliveries != *item.redeliveries) continue;
      ++kernel_.tally.leases_returned;
      queues_.put_back(answer.name, end_lease(item.version));
    } else {
      auto const [queue, redeliveries] = parsed_source(answer.name);
      queues_.put_back(queue, {item.version, item.value, redeliveries});
      changed.push_back(queue);
      continue;
    }
    changed.push_back(answer.name);
  }
  for (std::string const& queue : changed) serve(queue);
}

}  // namespace coxswain::core
