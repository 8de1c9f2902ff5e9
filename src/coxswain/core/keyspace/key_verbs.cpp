#include "coxswain/core/keyspace/key_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace coxswain::core {
namespace {

// Listed keys and values are copied.
constexpr std::size_t listed_bytes_per_step = 1024;
constexpr std::size_t steps_per_similar_key = 16;

// OK if the key is as expected.
status mismatch(std::string const& key, kv_store::entry const* held,
                expected_value const& expected) {
  if (std::holds_alternative<absent_value>(expected)) return held ? key_exists(key) : status{};
  if (!held) return no_such_key(key);
  std::string const name = shortened(key, 800);
  if (auto const* const version = std::get_if<std::uint64_t>(&expected)) {
    if (*version == held->version) return {};
    return fail<&reasons::other_version>(name, *version, held->version);
  }
  if (std::get<std::string>(expected) == held->value.view()) return {};
  return fail<&reasons::other_value>(name, held->version);
}

status is_volatile_value(std::string const& key) {
  return fail<&reasons::value_is_volatile>(shortened(key, 800));
}

}  // namespace

key_verbs::key_verbs(concerns& all)
    : blocking_concern{all,
                       {operation_id<get_args>, blocking_calls::wait::for_anybody,
                        wait_traits::party::task, false, true, why_answer::kind::get}},
      keys_{kernel_.memory, {options_.changes_max, options_.change_bytes_max}},
      removals_left_{options_.page_entries_max} {}

void key_verbs::job_failed(time_point, status const& why, barrier_failure const*) {
  cancel_reads(why);
}

void key_verbs::stopping(time_point, status const& why) {
  cancel_reads(why);
  keys_.forget_changes();  // they can no longer be requested
}

void key_verbs::cancel_reads(status const& why) {
  calls_.answer_all(keys_.take_all_waiters(), calls_.share(status{errc::cancelled, why.message()}));
}

void key_verbs::cancel(ticket, parked const& p) { keys_.cancel(p.name.get(), p.number); }

answer_ptr key_verbs::overdue(time_point now, parked const& p) {
  return calls_.share(fail<&reasons::no_value_in_time>(p.name.get(), now - p.since));
}

std::string key_verbs::missing_text(time_point, ticket, parked const& p) {
  return goal_text(p) + " has no value" + similar_text(p.name.get());
}

std::string key_verbs::similar_text(std::string const& key) {
  kernel_.tally.steps += steps_per_similar_key;
  auto const similar = keys_.similar_to(key);
  return similar ? "; " + in_quotes(*similar) + " exists" : std::string{};
}

std::string key_verbs::goal_text(parked const& p) const { return "key " + in_quotes(p.name.get()); }

std::string key_verbs::stuck_text(parked const& p) const {
  return "for " + goal_text(p) + ", which no task is left to set";
}

std::size_t key_verbs::waiting() const {
  // Gets of several keys wait at one of them until they are woken.
  return keys_.waiting() + concerns_.multi_gets.count_woken() - concerns_.multi_gets.waiting();
}

void key_verbs::check(ticket, parked const& p) const {
  invariant(!keys_.find(std::string{p.name.get()}), "who waits for a key waits for a missing one");
}

void key_verbs::check_invariants() const {
  for (auto const& [owner, all] : keys_.owned()) {
    invariant(roster_.at(owner).is_connected() || kernel_.stopping, "who owns a key is in the job");
    for (auto const key : all->keys) {
      auto const* const held = keys_.find(std::string{key});
      invariant(held && held->owner() == owner, "a key and its owner know each other");
    }
  }
  invariant(!error_ || keys_.waiting() == 0, "nobody waits for a key once the job has failed");
}

status key_verbs::checked_key(std::string& key, std::string_view what) const {
  status why = normalise_key(key, options_.key_bytes_max);
  if (why.ok() && key.empty()) return fail<&reasons::empty_name>(what);
  return why;
}

status key_verbs::checked_value(std::size_t bytes, bool may_be_volatile) const {
  std::size_t const lasting = options_.largest_lasting_value();
  std::size_t const most = may_be_volatile ? options_.largest_value() : lasting;
  if (bytes <= most) return {};
  if (bytes <= options_.largest_value())
    return fail<&reasons::lasting_value_is_too_long>(bytes, most);
  bool const is_given = most == options_.value_bytes_max;
  return is_given ? fail<&reasons::too_long>("value", bytes, "value_bytes_max", most)
                  : fail<&reasons::value_exceeds_memory>(bytes, most);
}

status key_verbs::checked_count(session const& by, std::size_t keys) const {
  bool const is_reader = by.given == role::reader;
  auto const most = is_reader
                        ? std::min(options_.keys_per_reader_call_max, options_.keys_per_call_max)
                        : options_.keys_per_call_max;
  if (keys <= most) return {};
  std::string_view const limit = is_reader ? "keys_per_reader_call_max" : "keys_per_call_max";
  return fail<&reasons::too_many_keys>(keys, limit, most);
}

void key_verbs::handle(call const& c, put_args& args) {
  if (args.ephemeral && !c.task) return calls_.refuse(c, kernel_.not_joined());
  if (status why = checked_key(args.key); !why.ok()) return calls_.refuse(c, std::move(why));
  remove_if_ended(args.key);
  if (status why = checked_value(args.value.size(), true); !why.ok())
    return calls_.refuse(c, std::move(why));
  auto const owner = args.ephemeral ? c.task : std::nullopt;
  auto const by = maker(c);
  auto const* const held = args.overwrite ? nullptr : keys_.find(args.key);
  bool const is_heir = held && held->made_by.precedes(by) && roster_.at(by.task).recoverable;
  // What a predecessor has stored in the same way. Nothing may depend on a volatile value.
  bool const is_same = is_heir && !args.replaces_predecessor && !owner && !held->ephemeral &&
                       !is_volatile(held) && held->value.view() == args.value;
  if (is_same) {
    keys_.inherit(args.key, by);
    return calls_.answer_now(c, calls_.share(stored_answer{held->version}), true);
  }
  bool const overwrites = !held || (is_heir && args.replaces_predecessor);
  stored(c, args.key, keys_.put(args.key, std::move(args.value), overwrites, owner, by));
}

bool key_verbs::compares_value(put_args const& put) const {
  if (put.overwrite || put.replaces_predecessor || put.value.empty()) return false;
  std::string key = put.key;
  auto const* const held = checked_key(key).ok() ? keys_.find(key) : nullptr;
  return held && held->made_by.self != incarnation{} && held->value.size() == put.value.size();
}

// The numbers of an elastic job's tasks change.
key_maker key_verbs::maker(call const& c) const {
  if (!c.task || options_.elastic) return {};
  return {roster_.at(*c.task).self, *c.task};
}

void key_verbs::handle(call const& c, append_args& args) {
  if (status why = checked_key(args.key); !why.ok()) return calls_.refuse(c, std::move(why));
  remove_if_ended(args.key);
  auto const* const held = keys_.find(args.key);
  std::size_t const bytes = args.value.size() + (held ? held->value.size() : 0);
  status why = checked_value(args.value.size());
  if (why.ok()) why = checked_value(bytes, is_volatile(held));
  if (!why.ok()) return calls_.answer_now(c, calls_.share(why), true);
  stored(c, args.key, keys_.append(args.key, args.value));
}

void key_verbs::handle(call const& c, compare_and_set_args& args) {
  if (std::holds_alternative<std::monostate>(args.expected))
    return calls_.refuse<&reasons::nothing_expected>(c);
  if (args.ephemeral && !c.task) return calls_.refuse(c, kernel_.not_joined());
  if (status why = checked_key(args.key); !why.ok()) return calls_.refuse(c, std::move(why));
  remove_if_ended(args.key);
  if (status why = checked_value(args.value.size()); !why.ok())
    return calls_.refuse(c, std::move(why));
  auto const* const held = keys_.find(args.key);
  bool const expects_value = std::holds_alternative<std::string>(args.expected);
  if (expects_value && is_volatile(held))
    return calls_.answer_now(c, calls_.share(is_volatile_value(args.key)), true);
  if (status why = mismatch(args.key, held, args.expected); !why.ok()) {
    answer refusal{std::move(why), {}};
    if (held && !is_volatile(held)) refusal.value = value_answer{held->value, held->version};
    return calls_.answer_now(c, make_answer(std::move(refusal)), true);
  }
  auto const owner = args.ephemeral ? c.task : std::nullopt;
  stored(c, args.key, keys_.put(args.key, std::move(args.value), true, owner, maker(c)));
}

// A refusal is kept too: sent again, the call might find the key changed and succeed.
void key_verbs::stored(call const& c, std::string const& key,
                       result<kv_store::changed> const& made) {
  if (!made) return calls_.answer_now(c, calls_.share(made.error()), true);
  bool const is_large = options_.volatile_above != 0 && is_volatile(keys_.find(key));
  calls_.answer_now(c, calls_.share(stored_answer{made->version, is_large}), true);
  wake(key);
  concerns_.key_watches.answer_watchers(made->version - 1);
}

void key_verbs::handle(call const& c, put_all_args& args) {
  if (status why = checked_count(c.by, args.entries.size()); !why.ok())
    return calls_.refuse(c, std::move(why));
  kernel_.tally.steps += args.entries.size();
  std::set<std::string_view> seen;
  std::size_t bytes = 0;
  std::size_t beside = 0;
  for (auto& [key, value] : args.entries) {
    if (status why = checked_key(key); !why.ok()) return calls_.refuse(c, std::move(why));
    if (status why = checked_value(value.size()); !why.ok())
      return calls_.refuse(c, std::move(why));
    if (!seen.insert(key).second) return calls_.refuse<&reasons::duplicate_key>(c, key);
    remove_if_ended(key);
    bytes += value.size();
    beside += kv_store::cost_of(key);
  }
  if (status why = may_put_all(args, bytes, beside); !why.ok()) {
    return calls_.answer_now(c, calls_.share(std::move(why)), true);
  }
  std::uint64_t const before = keys_.version();
  for (auto& [key, value] : args.entries) {
    // There is room for all of them.
    static_cast<void>(keys_.put(key, std::move(value), true, std::nullopt, maker(c)));
  }
  calls_.answer_now(c, calls_.share(stored_answer{keys_.version()}), true);
  for (auto const& [key, _] : args.entries) wake(key);
  concerns_.key_watches.answer_watchers(before);
}

status key_verbs::may_put_all(put_all_args const& args, std::size_t bytes, std::size_t beside) {
  for (auto const& [key, _] : args.entries) {
    if (args.overwrite || !keys_.find(key)) continue;
    return key_exists(key);
  }
  return keys_.make_room(bytes, beside);
}

void key_verbs::handle(call const& c, remove_args& args) {
  if (status why = checked_key(args.key); !why.ok()) return calls_.refuse(c, std::move(why));
  remove_if_ended(args.key);
  concerns_.multi_gets.check_woken(joint_gets::looks_per_removal);  // their keys still exist
  bool const was_there = keys_.remove(args.key);
  calls_.answer_now(c, calls_.share(removed_answer{was_there}), true);
  if (was_there) concerns_.key_watches.answer_watchers(keys_.version() - 1);
}

void key_verbs::handle(call const& c, remove_tree_args& args) {
  if (status why = normalise_key(args.directory, options_.key_bytes_max); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  if (args.directory.empty() && !args.all) return calls_.refuse<&reasons::removes_every_key>(c);
  concerns_.multi_gets.check_woken(joint_gets::looks_per_removal);  // their keys still exist
  std::uint64_t const before = keys_.version();
  auto removed = keys_.remove_tree(args.directory, args.after, options_.page_entries_max);
  kernel_.tally.steps += removed.count;
  calls_.answer_now(c, calls_.share(removed_answer{removed.count, std::move(removed.last)}), true);
  concerns_.key_watches.answer_watchers(before);
}

void key_verbs::handle(call const& c, increment_args& args) {
  if (status why = checked_key(args.key); !why.ok()) return calls_.refuse(c, std::move(why));
  remove_if_ended(args.key);
  if (is_volatile(keys_.find(args.key)))
    return calls_.answer_now(c, calls_.share(is_volatile_value(args.key)), true);
  auto const sum = keys_.increment(args.key, args.by);
  if (!sum) return calls_.answer_now(c, calls_.share(sum.error()), true);
  calls_.answer_now(c, calls_.share(counter_answer{sum->value, sum->version}), true);
  wake(args.key);
  concerns_.key_watches.answer_watchers(sum->version - 1);
}

bool key_verbs::is_volatile(kv_store::entry const* held) const {
  return options_.volatile_above != 0 && held && held->value.size() > options_.volatile_above;
}

void key_verbs::forget_volatile_values() {
  if (options_.volatile_above == 0) return;
  concerns_.multi_gets.check_woken(joint_gets::looks_per_removal);  // their keys still exist
  std::uint64_t const before = keys_.version();
  std::size_t const count = keys_.remove_larger(options_.volatile_above);
  keys_.forget_changes();  // they had volatile values
  if (count == 0) return;
  kernel_.log(severity::warning, event_kind::restarted,
              std::to_string(count) + (count == 1 ? " volatile value is" : " volatile values are") +
                  " lost with the process of the coordinator that had them");
  concerns_.key_watches.answer_watchers(before);
}

void key_verbs::remove_keys_of(task_id owner) {
  concerns_.multi_gets.check_woken(joint_gets::looks_per_removal);
  keys_.end_owner(owner);
  remove_ended_keys();
}

void key_verbs::remove_page_of_ended_keys() {
  removals_left_ = options_.page_entries_max;
  remove_ended_keys();
}

void key_verbs::remove_directory(std::string directory) {
  concerns_.multi_gets.check_woken(joint_gets::looks_per_removal);
  ended_directories_.push_back(std::move(directory));
  remove_ended_keys();
}

void key_verbs::remove_ended_keys() {
  std::uint64_t const before = keys_.version();
  std::size_t removed = keys_.remove_ended(removals_left_);
  while (!ended_directories_.empty() && removed < removals_left_) {
    auto const some = keys_.remove_tree(ended_directories_.front(), {}, removals_left_ - removed);
    removed += some.count;
    if (some.last.empty()) ended_directories_.pop_front();
  }
  removals_left_ -= removed;
  kernel_.tally.steps += removed;
  if (removed > 0) concerns_.key_watches.answer_watchers(before);
}

void key_verbs::remove_if_ended(std::string const& key) {
  if (keys_.remove_if_ended(key)) concerns_.key_watches.answer_watchers(keys_.version() - 1);
}

void key_verbs::handle(call const& c, get_args& args) {
  if (status why = checked_key(args.key); !why.ok()) return calls_.refuse(c, std::move(why));
  remove_if_ended(args.key);
  if (auto const* const held = keys_.find(args.key)) {
    return calls_.answer_now(c, calls_.share(value_answer{held->value, held->version}), false);
  }
  if (error_) return calls_.refuse(c, kernel_.job_failed(errc::cancelled));
  std::uint64_t const waiter = keys_.wait(args.key, c.from);
  if (awaited_last_.get() != args.key) awaited_last_ = std::move(args.key);
  calls_.park(c, *this, {waiter, awaited_last_}, args.timeout);
}

void key_verbs::handle(call const& c, try_get_args& args) {
  if (status why = checked_key(args.key); !why.ok()) return calls_.refuse(c, std::move(why));
  remove_if_ended(args.key);
  auto const* const held = keys_.find(args.key);
  if (!held) return calls_.refuse(c, no_such_key(args.key));
  calls_.answer_now(c, calls_.share(value_answer{held->value, held->version}), false);
}

status key_verbs::checked_listing(std::size_t encoded, std::size_t keys) const {
  if (encoded > options_.frame_bytes_max())
    return fail<&reasons::exceeds_frame>(options_.frame_bytes_max());
  std::size_t const most = memory_.limit() / 8;
  return encoded + keys <= most ? status{} : fail<&reasons::exceeds_reply>(most);
}

void key_verbs::handle(call const& c, list_args& args) {
  if (status why = normalise_key(args.directory, options_.key_bytes_max); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  if (args.version) {
    status why = keys_.checked_version(*args.version);
    if (!why.ok()) return calls_.refuse(c, std::move(why));
    if (!keys_.changes().remembers(*args.version))
      return calls_.answer_now(c, concerns_.key_watches.forgotten(), false);
  }
  listing_answer page;
  std::size_t encoded = 0;
  std::size_t keys = 0;
  status refusal;
  auto const add = [&](std::string const& key, kv_store::entry const& e) {
    encoded += key.size() + e.value.size() + 32;
    keys += key.size() + sizeof(listing_answer::entry);
    bool const is_first = page.entries.empty();
    status why = checked_listing(encoded, keys);
    bool const fits = why.ok() && (is_first || (page.entries.size() < options_.page_entries_max &&
                                                encoded <= options_.page_bytes_max));
    if (fits) {
      page.entries.push_back({key, e.value, e.version});
    } else if (is_first) {
      refusal = std::move(why);
    } else {
      page.more = true;
    }
    return fits;
  };
  keys_.scan(args.directory.empty() ? "" : args.directory + '/', args.after, add);
  kernel_.tally.steps += page.entries.size() + encoded / listed_bytes_per_step;
  if (!refusal.ok())
    return calls_.refuse<&reasons::value_exceeds>(c, args.directory, refusal.message());
  page.version = keys_.version();
  calls_.answer_now(c, calls_.share(std::move(page)), false);
}

void key_verbs::handle(call const& c, count_keys_args& args) {
  if (args.of_queue) return concerns_.queues.count(c, args.directory);
  if (status why = normalise_key(args.directory, options_.key_bytes_max); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  calls_.answer_now(c, calls_.share(count_answer{keys_.count(args.directory)}), false);
}

// One value wanted by many is held and encoded once.
void key_verbs::wake(std::string const& key) {
  std::vector<ticket> const waiting = keys_.take_waiters(key);
  if (waiting.empty()) return;
  auto const& held = *keys_.find(key);
  answer_ptr const found = calls_.share(value_answer{held.value, held.version});
  std::size_t looks = joint_gets::looks_per_put;
  for (ticket const who : waiting) {
    parked const& p = *sessions_.parked_at(who);
    if (p.at == concerns_.multi_gets.index()) {
      concerns_.multi_gets.wake(who, p, looks);
    } else {
      calls_.answer_parked(who, found);
    }
  }
}

listing_answer key_verbs::keys(std::string const& prefix, std::string const& after,
                               std::size_t most) const {
  listing_answer found;
  keys_.scan(prefix, after, [&](std::string const& key, kv_store::entry const& e) {
    if (found.entries.size() == most) return false;
    found.entries.push_back({key, e.value, e.version});
    return true;
  });
  found.version = keys_.version();
  return found;
}

result<value_answer> key_verbs::value(std::string_view key) const {
  std::string path{key};
  if (status why = checked_key(path); !why.ok()) return why;
  auto const* const held = keys_.find(path);
  if (!held) return no_such_key(path);
  return value_answer{held->value, held->version};
}

bytes key_verbs::exchange_value(std::string_view key, bytes by) {
  std::string path{key};
  return checked_key(path).ok() ? keys_.exchange(path, std::move(by)) : bytes{};
}

}  // namespace coxswain::core
