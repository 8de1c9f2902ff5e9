// Each item goes to one consumer, in order, and none is lost.

#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>
#include <map>

namespace coxswain::sim {
namespace {

struct item_story {
  call_record const* push{};
  std::vector<call_record const*> pops;
};

struct queue_story {
  std::map<std::string, item_story> items;  // each value is pushed once
  bool may_take_back{};                     // an item may have been taken without a delivered reply
};

// Its session ended before all its acknowledgements arrived, so a consumer may have received an
// item that is delivered again.
bool ends_early(history const& h, call_record const& pop) {
  process_record const& p = h.processes[pop.process];
  bool const is_cut_off = std::any_of(p.troubles.begin(), p.troubles.end(), [&](trouble const& t) {
    return t.from < h.ended && t.to > h.ended;
  });
  return p.died || p.ended || p.is_quiet || is_cut_off || (p.departed && *p.departed < h.ended);
}

std::map<std::string, queue_story> queues_of(history const& h, violations& found) {
  std::map<std::string, queue_story> all;
  for (call_record const& c : h.calls) {
    if (auto const* const push = c.asks<core::push_args>()) {
      all[push->queue].items[push->value].push = &c;
    }
  }
  for (call_record const& c : h.calls) {
    auto const* const pop = c.asks<core::pop_args>();
    if (!pop) continue;
    queue_story& q = all[pop->queue];
    bool const is_calm = c.answered && h.is_calm(c.process, c.made, *c.answered);
    if (!is_calm || ends_early(h, c)) q.may_take_back = true;
    auto const* const item = c.gave<core::value_answer>();
    if (!item) continue;
    auto const at = q.items.find(std::string{item->value.view()});
    if (at == q.items.end()) {
      found.push_back("never pushed but delivered: " + h.text(c));
    } else {
      at->second.pops.push_back(&c);
    }
  }
  return all;
}

void check_item(history const& h, item_story const& item, violations& found) {
  std::size_t kept = 0;
  for (call_record const* const pop : item.pops) {
    if (!ends_early(h, *pop)) ++kept;
    if (item.push->made > *pop->answered) {
      found.push_back("given before it was pushed: " + h.text(*pop));
    }
  }
  if (kept > 1) {
    found.push_back("given twice: the item of " + h.text(*item.push) +
                    "; first: " + h.text(*item.pops[0]) + "; then: " + h.text(*item.pops[1]));
  }
  if (!item.push->is_ok() || !item.pops.empty()) return;
  found.push_back("lost: the item of " + h.text(*item.push));
}

// Numbers increase with the pushes by one each.
void check_numbers(history const& h, queue_story const& q, violations& found) {
  std::map<std::uint64_t, item_story const*> by_number;
  for (auto const& [_, item] : q.items) {
    for (call_record const* const pop : item.pops) {
      auto const number = std::get<core::value_answer>(pop->got.value).version;
      auto const [at, is_new] = by_number.emplace(number, &item);
      if (!is_new && at->second != &item) {
        found.push_back("two items have one number: " + h.text(*pop));
      }
    }
  }
  time_point pushed{};  // the latest start of the pushes before
  for (auto const& [_, item] : by_number) {
    // An abandoned call may still be executed.
    if (item->push->is_ok() && *item->push->answered < pushed) {
      found.push_back("not in the order of the pushes: " + h.text(*item->push));
    }
    pushed = std::max(pushed, item->push->made);
  }
  if (q.may_take_back) return;
  time_point popped{};
  for (auto const& [_, item] : by_number) {
    if (*item->pops.front()->answered < popped) {
      found.push_back("given out of order: " + h.text(*item->pops.front()));
    }
    popped = std::max(popped, item->pops.front()->made);
  }
}

}  // namespace

void check_queues(history const& h, violations& found) {
  for (auto const& [_, q] : queues_of(h, found)) {
    for (auto const& [value, item] : q.items) check_item(h, item, found);
    check_numbers(h, q, found);
  }
}

}  // namespace coxswain::sim
