// Each item goes to one consumer, in order, and none is lost. One that was taken is gone once it is
// finished, has one holder at a time, and returns to its place.

#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>
#include <map>

namespace coxswain::sim {
namespace {

using core::lease_change;
using core::update_lease_args;

struct item_story {
  call_record const* push{};
  std::vector<call_record const*> pops;
  std::map<std::uint32_t, call_record const*> takes;  // by redeliveries
  std::vector<call_record const*> changes;            // of its leases
};

struct queue_story {
  std::map<std::string, item_story> items;  // each value is pushed once
  std::vector<interval> blind;              // an item may have been given without a delivered reply
};

core::value_answer const& item_of(call_record const& delivery) {
  return *delivery.gave<core::value_answer>();
}

std::string const* queue_of(call_record const& c) {
  if (auto const* const pop = c.asks<core::pop_args>()) return &pop->queue;
  auto const* const take = c.asks<core::take_args>();
  return take ? &take->queue : nullptr;
}

// Its session ended before all its acknowledgements arrived, so a consumer may have received an
// item that is delivered again.
bool ends_early(history const& h, call_record const& pop) {
  process_record const& p = h.processes[pop.process];
  bool const is_cut_off = std::any_of(p.troubles.begin(), p.troubles.end(), [&](trouble const& t) {
    return t.from < h.ended && t.to > h.ended;
  });
  return p.died || p.ended || p.is_quiet || is_cut_off || (p.departed && *p.departed < h.ended);
}

// While an item that was given to this call would not be in the queue, although none was delivered.
interval blind_during(history const& h, call_record const& c) {
  process_record const& p = h.processes[c.process];
  time_point end = c.over();
  for (auto const& gone : {p.died, p.departed, p.ended}) end = std::min(end, gone.value_or(end));
  if (end == time_point::max()) return {c.made, end};
  duration const in_transit = 2 * h.delay_max + 100ms;
  if (h.is_calm(c.process, c.made, end + in_transit)) return {c.made, end + in_transit};
  return {c.made, end + h.options.heartbeat_timeout + h.options.reconnect_grace +
                      h.options.restart_grace + h.stalled() + 2s};
}

void add_delivery(history const& h, call_record const& c, item_story& to, violations& found) {
  auto const& item = item_of(c);
  if (!item.redeliveries) return to.pops.push_back(&c);
  auto const [at, is_new] = to.takes.emplace(*item.redeliveries, &c);
  if (!is_new) {
    found.push_back("two leases of an item are one: " + h.text(*at->second) +
                    "; and: " + h.text(c));
  }
}

std::map<std::string, queue_story> queues_of(history const& h, violations& found) {
  std::map<std::string, queue_story> all;
  for (call_record const& c : h.calls) {
    if (auto const* const push = c.asks<core::push_args>()) {
      all[push->queue].items[push->value].push = &c;
    }
  }
  std::map<std::uint64_t, item_story*> by_number;
  for (call_record const& c : h.calls) {
    std::string const* const queue = queue_of(c);
    if (!queue) continue;
    queue_story& q = all[*queue];
    auto const* const item = c.gave<core::value_answer>();
    if (!item) {
      bool const got_none = c.answered && h.is_calm(c.process, c.made, *c.answered);
      if (!got_none) q.blind.push_back(blind_during(h, c));
      continue;
    }
    auto const at = q.items.find(std::string{item->value.view()});
    if (at == q.items.end()) {
      found.push_back("never pushed but delivered: " + h.text(c));
      continue;
    }
    add_delivery(h, c, at->second, found);
    by_number.emplace(item->version, &at->second);
  }
  for (call_record const& c : h.calls) {
    auto const* const change = c.asks<update_lease_args>();
    if (!change) continue;
    if (auto const at = by_number.find(change->item); at != by_number.end()) {
      at->second->changes.push_back(&c);
    }
  }
  return all;
}

bool is_refused(call_record const& c) {
  return c.answered && c.got.outcome.code() == errc::failed_precondition;
}

// The lease of this take, which one of `changes` is about.
bool is_about(call_record const& change, call_record const& take) {
  auto const& args = std::get<update_lease_args>(change.asked);
  return change.process == take.process && args.redeliveries == item_of(take).redeliveries;
}

// The earliest time at which the lease may expire. It was there when it was extended.
time_point may_expire(item_story const& item, call_record const& take) {
  time_point end = deadline_after(take.made, std::get<core::take_args>(take.asked).lease);
  for (call_record const* const c : item.changes) {
    auto const& args = std::get<update_lease_args>(c->asked);
    if (args.change != lease_change::extend || !is_about(*c, take) || is_refused(*c)) continue;
    time_point const extended = deadline_after(c->made, args.lease);
    end = c->is_ok() ? extended : std::min(end, extended);
  }
  return end;
}

// The earliest time at which the holder may not have the item any more; `but` is not considered.
time_point may_end(history const& h, item_story const& item, call_record const& take,
                   call_record const* but = nullptr) {
  process_record const& p = h.processes[take.process];
  time_point end = may_expire(item, take);
  auto const at = [&](std::optional<time_point> when) { end = std::min(end, when.value_or(end)); };
  at(p.died);
  at(p.departed);
  if (p.ended) at(*p.ended - h.delay_max);  // when it got the reply
  for (interval const& trouble : p.troubles) {
    if (trouble.to > take.made) at(trouble.from);
  }
  for (call_record const* const c : item.changes) {
    bool const ends_it = std::get<update_lease_args>(c->asked).change != lease_change::extend;
    if (ends_it && c != but && is_about(*c, take)) at(c->made);
  }
  for (call_record const& c : h.calls) {
    if (c.process == take.process && c.asks<core::leave_args>()) at(c.made);
  }
  return end;
}

void check_holders(history const& h, item_story const& item, violations& found) {
  for (auto const& [redeliveries, take] : item.takes) {
    time_point const free_from = may_end(h, item, *take);
    auto const check_next = [&](call_record const& next) {
      if (*next.answered >= free_from) return;
      found.push_back("two holders: " + h.text(*take) + "; then: " + h.text(next));
    };
    for (auto later = item.takes.upper_bound(redeliveries); later != item.takes.end(); ++later) {
      check_next(*later->second);
    }
    for (call_record const* const pop : item.pops) {
      if (ends_early(h, *pop)) continue;
      check_next(*pop);
      if (take->made > *pop->answered) {
        found.push_back("taken after it was popped: " + h.text(*pop) + "; then: " + h.text(*take));
      }
    }
    for (call_record const* const c : item.changes) {
      if (is_refused(*c) && is_about(*c, *take) && *c->answered < may_end(h, item, *take, c)) {
        found.push_back("refused although it is held: " + h.text(*take) + "; " + h.text(*c));
      }
    }
  }
}

void check_finished(history const& h, item_story const& item, violations& found) {
  call_record const* finished = nullptr;
  for (call_record const* const c : item.changes) {
    auto const& args = std::get<update_lease_args>(c->asked);
    if (args.change != lease_change::finish || !c->is_ok()) continue;
    if (finished) {
      found.push_back("finished twice: " + h.text(*finished) + "; then: " + h.text(*c));
    }
    finished = c;
    auto const later = item.takes.upper_bound(args.redeliveries);
    if (later != item.takes.end()) {
      found.push_back("given after it was finished: " + h.text(*c) +
                      "; then: " + h.text(*later->second));
    }
    for (call_record const* const pop : item.pops) {
      if (ends_early(h, *pop)) continue;
      found.push_back("popped and finished: " + h.text(*pop) + "; " + h.text(*c));
    }
  }
}

void check_item(history const& h, item_story const& item, violations& found) {
  std::size_t kept = 0;
  auto const check_push = [&](call_record const& delivery) {
    if (item.push->made <= *delivery.answered) return;
    found.push_back("given before it was pushed: " + h.text(delivery));
  };
  for (auto const& [_, take] : item.takes) check_push(*take);
  for (call_record const* const pop : item.pops) {
    if (!ends_early(h, *pop)) ++kept;
    check_push(*pop);
  }
  if (kept > 1) {
    found.push_back("given twice: the item of " + h.text(*item.push) +
                    "; first: " + h.text(*item.pops[0]) + "; then: " + h.text(*item.pops[1]));
  }
  bool const may_be_finished =
      std::any_of(item.changes.begin(), item.changes.end(), [](call_record const* c) {
        auto const& args = std::get<update_lease_args>(c->asked);
        return args.change == lease_change::finish && !is_refused(*c);
      });
  if (!item.push->is_ok() || !item.pops.empty() || may_be_finished) return;
  found.push_back("lost: the item of " + h.text(*item.push));
}

// Numbers increase with the pushes by one each.
void check_numbers(history const& h, queue_story const& q, violations& found) {
  std::map<std::uint64_t, item_story const*> by_number;
  auto const check = [&](item_story const& item, call_record const& delivery) {
    auto const [at, is_new] = by_number.emplace(item_of(delivery).version, &item);
    if (!is_new && at->second != &item) {
      found.push_back("two items have one number: " + h.text(delivery));
    }
  };
  for (auto const& [_, item] : q.items) {
    for (auto const& [redeliveries, take] : item.takes) check(item, *take);
    for (call_record const* const pop : item.pops) check(item, *pop);
  }
  time_point pushed{};  // the latest start of the pushes before
  for (auto const& [_, item] : by_number) {
    // An abandoned call may still be executed.
    if (item->push->is_ok() && *item->push->answered < pushed) {
      found.push_back("not in the order of the pushes: " + h.text(*item->push));
    }
    pushed = std::max(pushed, item->push->made);
  }
}

// When the item is back in the queue for sure, after this take of it; none: nobody knows.
std::optional<time_point> is_back(history const& h, item_story const& item,
                                  call_record const& take) {
  duration const lease = std::get<core::take_args>(take.asked).lease;
  std::optional<time_point> back = deadline_after(*take.answered, lease) + 100ms;
  if (lease == without_limit || !h.is_calm(0, take.made, *back)) back.reset();
  for (call_record const* const c : item.changes) {
    auto const& args = std::get<update_lease_args>(c->asked);
    if (!is_about(*c, take)) continue;
    if (args.change == lease_change::release && c->is_ok()) return *c->answered;
    if (!is_refused(*c)) back.reset();
  }
  return back;
}

// When the item is in the queue for sure.
std::vector<interval> waits_during(history const& h, item_story const& item) {
  std::vector<interval> all;
  time_point popped{time_point::max()};
  for (call_record const* const pop : item.pops) popped = std::min(popped, pop->made);
  auto next = item.takes.begin();
  auto const add = [&](time_point from) {
    time_point const taken = next == item.takes.end() ? time_point::max() : next->second->made;
    if (from < std::min(popped, taken)) all.push_back({from, std::min(popped, taken)});
  };
  if (item.push->is_ok() && (next == item.takes.end() || next->first == 0)) {
    add(*item.push->answered);
  }
  while (next != item.takes.end()) {
    auto const& [redeliveries, take] = *next++;
    // It may have been given without a delivered reply.
    bool const is_known = next == item.takes.end() || next->first == redeliveries + 1;
    auto const back = is_back(h, item, *take);
    if (back && is_known) add(*back);
  }
  return all;
}

bool overlaps(interval const& i, call_record const& delivery) {
  return i.from <= *delivery.answered && i.to >= delivery.made;
}

// None is given while an older one waits.
void check_places(history const& h, queue_story const& q, violations& found) {
  std::map<std::uint64_t, call_record const*> pushes;  // of the items with a known number
  std::vector<std::pair<std::uint64_t, call_record const*>> deliveries;
  std::vector<std::pair<std::uint64_t, interval>> waits;
  for (auto const& [_, item] : q.items) {
    std::uint64_t number = 0;
    auto const add = [&](call_record const& delivery) {
      number = item_of(delivery).version;
      bool const is_blind = std::any_of(q.blind.begin(), q.blind.end(),
                                        [&](interval const& i) { return overlaps(i, delivery); });
      if (!is_blind) deliveries.emplace_back(number, &delivery);
    };
    for (auto const& [redeliveries, take] : item.takes) add(*take);
    for (call_record const* const pop : item.pops) add(*pop);
    if (number == 0) continue;
    pushes[number] = item.push;
    for (interval const& i : waits_during(h, item)) waits.emplace_back(number, i);
  }
  for (auto const& [number, delivery] : deliveries) {
    for (auto const& [older, waiting] : waits) {
      bool const is_passed =
          older < number && waiting.from <= delivery->made && waiting.to > *delivery->answered;
      if (!is_passed) continue;
      found.push_back("given out of order: " + h.text(*delivery) + "; since " +
                      h.text(waiting.from) + " there was the item of " + h.text(*pushes[older]));
    }
  }
}

}  // namespace

void check_queues(history const& h, violations& found) {
  for (auto const& [_, q] : queues_of(h, found)) {
    for (auto const& [value, item] : q.items) {
      check_item(h, item, found);
      check_holders(h, item, found);
      check_finished(h, item, found);
    }
    check_numbers(h, q, found);
    check_places(h, q, found);
  }
}

}  // namespace coxswain::sim
