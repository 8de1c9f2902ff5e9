// Keys: changing and reading them, and waking those who wait.

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace coxswain::core {
namespace {

// Listed keys and values are copied.
constexpr std::size_t listed_bytes_per_step = 1024;

// OK if the key is as expected.
status mismatch(std::string const& key, kv_store::entry const* held,
                expected_value const& expected) {
  std::string const name = "key " + shortened(key, 800);
  if (std::holds_alternative<absent_value>(expected)) {
    return held ? status{errc::already_exists, name + " already exists"} : status{};
  }
  if (!held) return {errc::not_found, name + " not found"};
  std::string const now = "; it is at version " + std::to_string(held->version);
  if (auto const* const version = std::get_if<std::uint64_t>(&expected)) {
    if (*version == held->version) return {};
    return {errc::failed_precondition,
            name + " is not at version " + std::to_string(*version) + now};
  }
  if (std::get<std::string>(expected) == held->value.view()) return {};
  return {errc::failed_precondition, name + " has another value" + now};
}

}  // namespace

status coordinator::state::checked_key(std::string& key, std::string_view what) const {
  status why = normalise_key(key, options.key_bytes_max);
  if (why.ok() && key.empty()) {
    return {errc::invalid_argument, "the " + std::string{what} + " is empty"};
  }
  return why;
}

status coordinator::state::checked_value(std::size_t bytes) const {
  std::size_t const most = options.largest_value();
  if (bytes <= most) return {};
  bool const is_given = most == options.value_bytes_max;
  return {errc::resource_exhausted,
          "the value is " + std::to_string(bytes) + " bytes long; the limit " +
              (is_given ? "value_bytes_max" : "for values, a fifth of memory_bytes_max,") + " is " +
              std::to_string(most)};
}

status coordinator::state::checked_count(session const& by, std::size_t keys) const {
  bool const is_reader = by.given == role::reader;
  auto const most = is_reader
                        ? std::min(options.keys_per_reader_call_max, options.keys_per_call_max)
                        : options.keys_per_call_max;
  if (keys <= most) return {};
  std::string const limit = is_reader ? "keys_per_reader_call_max" : "keys_per_call_max";
  return {errc::resource_exhausted, "the call names " + std::to_string(keys) + " keys; the limit " +
                                        limit + " is " + std::to_string(most)};
}

// --- Changing --------------------------------------------------------------------------------

void coordinator::state::handle(call const& c, put_args& args) {
  if (args.owned && !c.task) return refuse(c, not_joined());
  if (status why = checked_key(args.key); !why.ok()) return refuse(c, std::move(why));
  remove_if_ended(args.key);
  if (status why = checked_value(args.value.size()); !why.ok()) return refuse(c, std::move(why));
  auto const owner = args.owned ? c.task : std::nullopt;
  stored(c, args.key, keys_.put(args.key, std::move(args.value), args.overwrite, owner));
}

void coordinator::state::handle(call const& c, append_args& args) {
  if (status why = checked_key(args.key); !why.ok()) return refuse(c, std::move(why));
  remove_if_ended(args.key);
  auto const* const held = keys_.find(args.key);
  std::size_t const bytes = args.value.size() + (held ? held->value.size() : 0);
  if (status why = checked_value(bytes); !why.ok()) return answer_now(c, share(why), true);
  stored(c, args.key, keys_.append(args.key, args.value));
}

void coordinator::state::handle(call const& c, compare_and_set_args& args) {
  if (std::holds_alternative<std::monostate>(args.expected)) {
    return refuse(c, {errc::invalid_argument, "it is not said what is expected of the key"});
  }
  if (args.owned && !c.task) return refuse(c, not_joined());
  if (status why = checked_key(args.key); !why.ok()) return refuse(c, std::move(why));
  remove_if_ended(args.key);
  if (status why = checked_value(args.value.size()); !why.ok()) return refuse(c, std::move(why));
  auto const* const held = keys_.find(args.key);
  if (status why = mismatch(args.key, held, args.expected); !why.ok()) {
    answer refusal{std::move(why), {}};
    if (held) refusal.value = value_answer{held->value, held->version};
    return answer_now(c, make_answer(std::move(refusal)), true);
  }
  auto const owner = args.owned ? c.task : std::nullopt;
  stored(c, args.key, keys_.put(args.key, std::move(args.value), true, owner));
}

// A refusal is kept too: sent again, the call might find the key changed and succeed.
void coordinator::state::stored(call const& c, std::string const& key,
                                result<kv_store::changed> const& made) {
  if (!made) return answer_now(c, share(made.error()), true);
  answer_now(c, share(stored_answer{made->version}), true);
  wake(key);
  tell_key_watches(made->version - 1);
}

void coordinator::state::handle(call const& c, put_all_args& args) {
  if (status why = checked_count(c.by, args.entries.size()); !why.ok())
    return refuse(c, std::move(why));
  tally.steps += args.entries.size();
  std::set<std::string_view> seen;
  std::size_t bytes = 0;
  std::size_t beside = 0;
  for (auto& [key, value] : args.entries) {
    if (status why = checked_key(key); !why.ok()) return refuse(c, std::move(why));
    if (status why = checked_value(value.size()); !why.ok()) return refuse(c, std::move(why));
    if (!seen.insert(key).second) {
      return refuse(c, {errc::invalid_argument, "key " + quoted(key) + " is there twice"});
    }
    remove_if_ended(key);
    bytes += value.size();
    beside += kv_store::cost_of(key);
  }
  if (status why = may_put_all(args, bytes, beside); !why.ok()) {
    return answer_now(c, share(std::move(why)), true);
  }
  std::uint64_t const before = keys_.version();
  for (auto& [key, value] : args.entries) {
    // There is room for all of them.
    static_cast<void>(keys_.put(key, std::move(value), true));
  }
  answer_now(c, share(stored_answer{keys_.version()}), true);
  for (auto const& [key, _] : args.entries) wake(key);
  tell_key_watches(before);
}

status coordinator::state::may_put_all(put_all_args const& args, std::size_t bytes,
                                       std::size_t beside) {
  for (auto const& [key, _] : args.entries) {
    if (args.overwrite || !keys_.find(key)) continue;
    return {errc::already_exists, "key " + shortened(key, 900) + " already exists"};
  }
  return keys_.make_room(bytes, beside);
}

void coordinator::state::handle(call const& c, remove_args& args) {
  if (status why = normalise_key(args.key, options.key_bytes_max); !why.ok()) {
    return refuse(c, std::move(why));
  }
  if (args.key.empty() && !args.all) {
    return refuse(c, {errc::invalid_argument, "removing the root removes every key: say `all`"});
  }
  look_at_woken(joint_gets::looks_per_removal);  // their keys are there still
  std::uint64_t const before = keys_.version();
  auto removed = keys_.remove(args.key, args.after, options.page_entries_max);
  tally.steps += removed.count;
  answer_now(c, share(removed_answer{removed.count, std::move(removed.last)}), true);
  tell_key_watches(before);
}

void coordinator::state::handle(call const& c, increment_args& args) {
  if (status why = checked_key(args.key); !why.ok()) return refuse(c, std::move(why));
  remove_if_ended(args.key);
  auto const sum = keys_.increment(args.key, args.by);
  if (!sum) return answer_now(c, share(sum.error()), true);
  answer_now(c, share(counter_answer{sum->value, sum->version}), true);
  wake(args.key);
  tell_key_watches(sum->version - 1);
}

void coordinator::state::remove_keys_of(task_id owner) {
  look_at_woken(joint_gets::looks_per_removal);
  keys_.end_owner(owner);
  remove_ended_keys();
}

// A page between two advances: more may wait, of a task that has ended or of several.
void coordinator::state::remove_ended_keys() {
  std::uint64_t const before = keys_.version();
  std::size_t const removed = keys_.remove_ended(removals_left_);
  removals_left_ -= removed;
  tally.steps += removed;
  if (removed > 0) tell_key_watches(before);
}

// Before a call looks at the key, so that nobody sees it later than its removal is told.
void coordinator::state::remove_if_ended(std::string const& key) {
  if (keys_.remove_if_ended(key)) tell_key_watches(keys_.version() - 1);
}

// --- Reading ---------------------------------------------------------------------------------

void coordinator::state::handle(call const& c, get_args& args) {
  if (status why = checked_key(args.key); !why.ok()) return refuse(c, std::move(why));
  remove_if_ended(args.key);
  if (auto const* const held = keys_.find(args.key)) {
    return answer_now(c, share(value_answer{held->value, held->version}), false);
  }
  if (error) return refuse(c, job_failed(errc::cancelled));
  parked p;
  p.where = parked::place::key;
  p.task = c.task;
  p.number = keys_.wait(args.key, c.from);
  p.name = std::move(args.key);
  arm_call(c, p, args.timeout);
  park(c, std::move(p));
}

void coordinator::state::handle(call const& c, try_get_args& args) {
  if (status why = checked_key(args.key); !why.ok()) return refuse(c, std::move(why));
  remove_if_ended(args.key);
  auto const* const held = keys_.find(args.key);
  if (!held) return refuse(c, {errc::not_found, "key " + shortened(args.key, 900) + " not found"});
  answer_now(c, share(value_answer{held->value, held->version}), false);
}

status coordinator::state::checked_listing(std::size_t encoded, std::size_t keys) const {
  if (encoded > options.frame_bytes_max()) {
    return {errc::resource_exhausted,
            std::to_string(options.frame_bytes_max()) + " bytes, the limit frame_bytes_max"};
  }
  std::size_t const most = memory->limit() / 8;
  if (encoded + keys <= most) return {};
  return {errc::resource_exhausted, std::to_string(most) +
                                        " bytes, an eighth of memory_bytes_max, the limit of one "
                                        "answer"};
}

void coordinator::state::handle(call const& c, list_args& args) {
  if (status why = normalise_key(args.directory, options.key_bytes_max); !why.ok()) {
    return refuse(c, std::move(why));
  }
  if (args.version) {
    status why = keys_.checked_version(*args.version);
    if (!why.ok()) return refuse(c, std::move(why));
    if (!keys_.changes().remembers(*args.version)) return answer_now(c, forgotten(), false);
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
    bool const fits = why.ok() && (is_first || (page.entries.size() < options.page_entries_max &&
                                                encoded <= options.page_bytes_max));
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
  tally.steps += page.entries.size() + encoded / listed_bytes_per_step;
  if (!refusal.ok()) {
    return refuse(c, {refusal.code(), "a key below " + quoted(args.directory) + " is longer than " +
                                          refusal.message() + "; get its value instead"});
  }
  page.version = keys_.version();
  answer_now(c, share(std::move(page)), false);
}

void coordinator::state::handle(call const& c, count_keys_args& args) {
  if (status why = normalise_key(args.directory, options.key_bytes_max); !why.ok()) {
    return refuse(c, std::move(why));
  }
  answer_now(c, share(count_answer{keys_.count(args.directory)}), false);
}

void coordinator::state::handle(call const& c, get_all_args& args) {
  tally.steps += args.keys.size();
  if (status why = checked_count(c.by, args.keys.size()); !why.ok())
    return refuse(c, std::move(why));
  for (std::string& key : args.keys) {
    if (status why = checked_key(key); !why.ok()) return refuse(c, std::move(why));
    remove_if_ended(key);
  }
  std::size_t const at = missing_from(args.keys, 0);
  if (at == args.keys.size()) return answer_now(c, values_of(args.keys), false);
  if (error) return refuse(c, job_failed(errc::cancelled));
  std::size_t const more = joint_gets::overhead(args.keys);
  if (status why = room_to_wait(c.by, more); !why.ok()) return refuse(c, std::move(why));
  parked p;
  p.where = parked::place::keys;
  p.task = c.task;
  p.number = joint_gets_.add(std::move(args.keys));
  sessions_.hold(c.by, more);
  wait_at(p.number, at, c.from);
  arm_call(c, p, args.timeout);
  park(c, std::move(p));
}

// The first key without a value, beginning at `begin` and going round; the number of keys if there
// is none. So a get whose keys come in their order looks at each once or twice.
std::size_t coordinator::state::missing_from(std::vector<std::string> const& keys,
                                             std::size_t begin) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::size_t const at = (begin + i) % keys.size();
    if (!keys_.find(keys[at])) return at;
  }
  return keys.size();
}

void coordinator::state::wait_at(joint_gets::number which, std::size_t at, ticket who) {
  joint_gets::get& g = joint_gets_.at(which);
  g.at = at;
  g.looked = 0;
  g.is_woken = false;
  g.waiter = keys_.wait(g.keys[at], who);
}

void coordinator::state::end_joint_get(joint_gets::number which) {
  joint_gets::get const& g = joint_gets_.at(which);
  if (!g.is_woken) keys_.withdraw(g.keys[g.at], g.waiter);
  joint_gets_.erase(which);
}

answer_ptr coordinator::state::values_of(std::vector<std::string> const& keys) const {
  listing_answer listing{{}, keys_.version()};
  std::size_t encoded = 0;
  std::size_t copied = 0;
  for (std::string const& key : keys) {
    auto const& held = *keys_.find(key);
    encoded += key.size() + held.value.size() + 32;
    copied += key.size() + sizeof(listing_answer::entry);
    if (status const why = checked_listing(encoded, copied); !why.ok()) {
      return share(status{why.code(), "the values of the " + std::to_string(keys.size()) +
                                          " keys are longer than " + why.message() +
                                          "; get fewer at a time"});
    }
    listing.entries.push_back({key, held.value, held.version});
  }
  return share(std::move(listing));
}

std::string coordinator::state::missing_text(joint_gets::get const& g) const {
  constexpr std::size_t named_max = 16;
  std::string names;
  std::size_t count = 0;
  std::size_t const looks = std::min(g.keys.size(), joint_gets::looks_per_text);
  for (std::size_t i = 0; i < looks; ++i) {
    std::string const& key = g.keys[looks == g.keys.size() ? i : (g.at + i) % g.keys.size()];
    if (keys_.find(key)) continue;
    if (++count <= named_max) names += (count == 1 ? "" : ", ") + quoted(key);
  }
  if (count > named_max) names += " and " + std::to_string(count - named_max) + " more";
  bool const is_partial = looks < g.keys.size();
  return (is_partial ? "at least " : "") + std::to_string(count) + " of " +
         std::to_string(g.keys.size()) + " keys: " + names;
}

// One value wanted by many is held and encoded once.
void coordinator::state::wake(std::string const& key) {
  std::vector<ticket> const waiting = keys_.take_waiters(key);
  if (waiting.empty()) return;
  auto const& held = *keys_.find(key);
  answer_ptr const found = share(value_answer{held.value, held.version});
  std::size_t looks = joint_gets::looks_per_put;
  for (ticket const who : waiting) {
    parked const& p = *sessions_.parked_at(who);
    if (p.where == parked::place::keys) {
      joint_gets_.at(p.number).is_woken = true;
      if (!look_again(p.number, who, looks)) joint_gets_.wake(p.number, who);
    } else {
      answer_parked(who, found);
    }
  }
}

// The key that it waited at has come. False if it used up the looks: there are more keys.
bool coordinator::state::look_again(joint_gets::number which, ticket who, std::size_t& looks) {
  joint_gets::get& g = joint_gets_.at(which);
  for (; g.looked < g.keys.size(); ++g.looked) {
    if (looks == 0) return false;
    --looks;
    if (!keys_.find(g.keys[g.at])) {
      wait_at(which, g.at, who);
      return true;
    }
    g.at = (g.at + 1) % g.keys.size();
  }
  // What was looked at some time ago may be gone.
  std::size_t const at = missing_from(g.keys, g.at);
  looks -= std::min(looks, g.keys.size());
  if (at == g.keys.size()) {
    answer_parked(who, values_of(g.keys));
  } else {
    wait_at(which, at, who);
  }
  return true;
}

void coordinator::state::look_at_woken(std::size_t looks) {
  auto& woken = joint_gets_.woken();
  while (!woken.empty()) {
    ticket const who = woken.front();
    auto const* const p = sessions_.parked_at(who);
    bool const waits = p && p->where == parked::place::keys && joint_gets_.at(p->number).is_woken;
    if (waits && !look_again(p->number, who, looks)) return;
    woken.pop_front();
  }
}

// All gets and pops.
void coordinator::state::cancel_reads(std::string const& why) {
  look_at_woken(joint_gets::looks_per_removal);
  answer_ptr const cancelled = share(status{errc::cancelled, why});
  auto& woken = joint_gets_.woken();
  for (; !woken.empty(); woken.pop_front()) {
    auto const* const p = sessions_.parked_at(woken.front());
    bool const waits = p && p->where == parked::place::keys && joint_gets_.at(p->number).is_woken;
    if (waits) answer_parked(woken.front(), cancelled);
  }
  answer_all(keys_.take_all_waiters(), cancelled);
  answer_all(queues_.take_all_waiters(), cancelled);
}

}  // namespace coxswain::core
