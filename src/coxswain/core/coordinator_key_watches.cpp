// Watches of keys: what has changed below a directory since a version.

#include "coxswain/core/change_batch.hpp"
#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace coxswain::core {
namespace {

// Of the changes that are looked at, most concern another directory, which is seen quickly.
constexpr std::uint64_t changes_per_step = 16;

}  // namespace

void coordinator::state::handle(call const& c, watch_keys_args& args) {
  if (status why = normalise_key(args.directory, options.key_bytes_max); !why.ok()) {
    return refuse(c, std::move(why));
  }
  std::uint64_t const present = keys_.version();
  if (!args.after) return answer_now(c, share(key_changes_answer{{}, present}), false);
  if (status why = keys_.checked_version(*args.after); !why.ok()) return refuse(c, std::move(why));
  if (!keys_.changes().remembers(*args.after)) return answer_now(c, forgotten(), false);
  auto changes = changes_below(args.directory, *args.after);
  tally.steps += (changes.version - *args.after) / changes_per_step + changes.changes.size();
  bool const waits = changes.changes.empty() && changes.version == present;
  if (!waits) return answer_now(c, share(std::move(changes)), false);
  parked p;
  p.where = parked::place::key_changes;
  p.number = key_watches_.wait(args.directory, c.from);
  p.name = std::move(args.directory);
  arm_call(c, p, args.timeout);
  park(c, std::move(p));
}

key_changes_answer coordinator::state::changes_below(std::string const& directory,
                                                     std::uint64_t after) const {
  change_batch told{options};
  std::uint64_t const end = std::min(keys_.version(), after + options.changes_looked_at_max);
  keys_.changes().each_after(after, [&](key_change const& one) {
    return one.version <= end && (!concerns(one.key, directory) || told.add(one));
  });
  return std::move(told).until(end);
}

// Nothing that concerned those who wait had changed until `since`, so they are told all that came
// after it; who watches the same is told the same.
void coordinator::state::tell_key_watches(std::uint64_t since) {
  if (key_watches_.waiting() == 0) return;
  if (!keys_.changes().remembers(since)) return answer_all(key_watches_.take_all(), forgotten());
  std::map<std::string, change_batch, std::less<>> told;
  keys_.changes().each_after(since, [&](key_change const& one) {
    key_watches_.each_concerned(one.key, [&](std::string const& directory) {
      told.try_emplace(directory, options).first->second.add(one);
    });
    return true;
  });
  for (auto& [directory, batch] : told) {
    answer_all(key_watches_.take(directory), share(std::move(batch).until(keys_.version())));
  }
}

answer_ptr coordinator::state::forgotten() const {
  std::uint64_t const present = keys_.version();
  status why{errc::out_of_range,
             "not all changes since that version are remembered; the keys are at version " +
                 std::to_string(present) + ": list them, and watch from there"};
  return make_answer({std::move(why), key_changes_answer{{}, present}});
}

}  // namespace coxswain::core
