#include "coxswain/core/keyspace/key_watch_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/keyspace/change_batch.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace coxswain::core {
namespace {

// Most examined changes belong to another directory, which is detected quickly.
constexpr std::uint64_t changes_per_step = 16;

}  // namespace

key_watch_verbs::key_watch_verbs(concerns& all)
    : waiting_concern{
          all, {operation_id<watch_keys_args>, std::nullopt, wait_traits::party::session, false}} {}

void key_watch_verbs::stopping(time_point, status const& why) {
  calls_.answer_all(watches_.take_all(), calls_.share(status{errc::unavailable, why.message()}));
}

void key_watch_verbs::cancel(ticket, parked const& p) { watches_.cancel(p.name.get(), p.number); }

// For a watch, "no change" is a regular reply.
answer_ptr key_watch_verbs::overdue(time_point, parked const&) {
  return calls_.share(key_changes_answer{{}, concerns_.keys.store().version()});
}

std::size_t key_watch_verbs::waiting() const { return watches_.waiting(); }

void key_watch_verbs::check(ticket, parked const& p) const {
  invariant(!p.task, "a watch is for no task");
}

void key_watch_verbs::handle(call const& c, watch_keys_args& args) {
  if (status why = normalise_key(args.directory, options_.key_bytes_max); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  std::uint64_t const present = concerns_.keys.store().version();
  if (!args.after)
    return calls_.answer_now(c, calls_.share(key_changes_answer{{}, present}), false);
  if (status why = concerns_.keys.store().checked_version(*args.after); !why.ok())
    return calls_.refuse(c, std::move(why));
  if (!concerns_.keys.store().changes().remembers(*args.after))
    return calls_.answer_now(c, forgotten(), false);
  auto changes = changes_below(args.directory, *args.after);
  kernel_.tally.steps +=
      (changes.version - *args.after) / changes_per_step + changes.changes.size();
  bool const waits = changes.changes.empty() && changes.version == present;
  if (!waits) return calls_.answer_now(c, calls_.share(std::move(changes)), false);
  key_watches::watch_number const which = watches_.wait(args.directory, c.from);
  calls_.park(c, *this, {which, std::move(args.directory)}, args.timeout);
}

key_changes_answer key_watch_verbs::changes_below(std::string const& directory,
                                                  std::uint64_t after) const {
  change_batch batches{options_};
  kv_store const& keys = concerns_.keys.store();
  std::uint64_t const end = std::min(keys.version(), after + options_.changes_looked_at_max);
  keys.changes().each_after(after, [&](key_change const& change) {
    return change.version <= end && (!lies_below(change.key, directory) || batches.add(change));
  });
  return std::move(batches).until(end);
}

// Nothing below these directories had changed until `since`, so their watches get all changes after
// it; watches of the same directory share the reply.
void key_watch_verbs::answer_watchers(std::uint64_t since) {
  if (watches_.waiting() == 0) return;
  if (!concerns_.keys.store().changes().remembers(since))
    return calls_.answer_all(watches_.take_all(), forgotten());
  std::map<std::string, change_batch, std::less<>> batches;
  concerns_.keys.store().changes().each_after(since, [&](key_change const& change) {
    watches_.each_concerned(change.key, [&](std::string const& directory) {
      batches.try_emplace(directory, options_).first->second.add(change);
    });
    return true;
  });
  for (auto& [directory, batch] : batches) {
    calls_.answer_all(watches_.take(directory),
                      calls_.share(std::move(batch).until(concerns_.keys.store().version())));
  }
}

answer_ptr key_watch_verbs::forgotten() const {
  std::uint64_t const present = concerns_.keys.store().version();
  status why = fail<&reasons::changes_are_lost>(present);
  return make_answer({std::move(why), key_changes_answer{{}, present}});
}

}  // namespace coxswain::core
