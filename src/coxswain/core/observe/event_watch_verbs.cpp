#include "coxswain/core/observe/event_watch_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace coxswain::core {
namespace {

// An event is mostly text, which is copied and encoded.
constexpr std::size_t steps_per_event = 2;

}  // namespace

event_watch_verbs::event_watch_verbs(concerns& all)
    : waiting_concern{
          all,
          {operation_id<watch_events_args>, std::nullopt, wait_traits::party::session, false}} {}

void event_watch_verbs::stopping(time_point, status const& why) {
  calls_.answer_all(watchers_.tickets(), calls_.share(status{errc::unavailable, why.message()}));
}

void event_watch_verbs::cancel(ticket, parked const& p) { watchers_.cancel(p.number); }

// An event of this iteration may precede the check of the deadline.
answer_ptr event_watch_verbs::overdue(time_point, parked const& p) {
  auto const& w = watchers_.all().at(p.number);
  return calls_.share(kernel_.event_log.since(w.seen, w.at_least));
}

std::size_t event_watch_verbs::waiting() const { return watchers_.all().size(); }

void event_watch_verbs::check(ticket who, parked const& p) const {
  invariant(watchers_.all().at(p.number).who == who, "a watcher waits");
}

void event_watch_verbs::follow_up() {
  if (answered_ == kernel_.event_log.last()) return;
  answered_ = kernel_.event_log.last();
  std::map<std::pair<std::uint64_t, severity>, std::vector<ticket>> waiting;
  for (auto const& [_, w] : watchers_.all()) {
    if (kernel_.event_log.last(w.at_least) > w.seen) waiting[{w.seen, w.at_least}].push_back(w.who);
  }
  for (auto const& [what, who] : waiting) {
    calls_.answer_all(who, calls_.share(kernel_.event_log.since(what.first, what.second)));
  }
}

void event_watch_verbs::handle(call const& c, watch_events_args& args) {
  std::uint64_t const last = kernel_.event_log.last();
  if (args.after > last) return calls_.refuse<&reasons::not_yet>(c, "event", *args.after, last);
  bool const waits = args.after && kernel_.event_log.last(args.at_least) <= *args.after &&
                     kernel_.event_log.lost(*args.after, args.at_least) == 0;
  if (!waits) {
    auto found = kernel_.event_log.since(args.after, args.at_least, args.last);
    kernel_.tally.steps += found.entries.size() * steps_per_event +
                           std::min<std::size_t>(args.last, kernel_.event_log.size()) / 16;
    return calls_.answer_now(c, calls_.share(std::move(found)), false);
  }
  calls_.park(c, *this, {watchers_.wait({c.from, last, args.at_least})}, args.timeout);
}

}  // namespace coxswain::core
