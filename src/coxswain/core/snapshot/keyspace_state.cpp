// The state of keys, queues and locks in a snapshot.

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/snapshot/fields_of_sessions.hpp"
#include "coxswain/core/snapshot/state_reader.hpp"
#include "coxswain/core/snapshot/state_writer.hpp"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coxswain::core {

// Their versions have no gaps.
void change_log::fields(auto& a, auto& s) {
  a(1, s.last_);
  if constexpr (is_loading<decltype(a)>) {
    std::vector<std::pair<std::string, std::optional<bytes>>> all;
    a(2, all);
    a.check(all.size() <= s.last_, "there are more changes than versions");
    s.last_ -= all.size();
    for (auto& [key, value] : all) s.add(key, std::move(value));
  } else {
    s.each_after(s.last_ - s.size_, [&](key_change const& change) {
      a.item(2, [&] { a.members(change.key, change.value); });
      return true;
    });
  }
}

// The owner of an ephemeral key is a task, or one that has ended, by its place among those.
void kv_store::save(auto& a) const {
  for (auto const& [owner, _] : owned_) a.item(2, [&, of = owner] { a(1, of); });
  std::unordered_map<ephemeral_keys const*, std::uint64_t> ended;
  for (auto const& lost : ended_) {
    a.item(3, [&] { a(1, lost->owner); });
    ended.emplace(lost.get(), ended.size() + 1);
  }
  for (auto const& [key, stored] : entries_) {
    a.item(4, [&, &name = key, &held = stored] {
      a.members(name, held.value, held.version);
      if (held.has_ended()) {
        a(5, ended.at(held.ephemeral));
      } else {
        a(4, held.owner());
      }
      a(6, held.made_by.self);
      a(7, held.made_by.task);
    });
  }
}

void kv_store::load(auto& a) {
  while (a.is_next(2)) {
    a.item(2, [&] {
      task_id owner;
      a(1, owner);
      owned_[owner] = std::make_unique<ephemeral_keys>(ephemeral_keys{owner, false, {}});
    });
  }
  std::vector<ephemeral_keys*> ended;
  while (a.is_next(3)) {
    a.item(3, [&] {
      task_id owner;
      a(1, owner);
      auto keys = std::make_unique<ephemeral_keys>(ephemeral_keys{owner, true, {}});
      ended.push_back(keys.get());
      ended_.push_back(std::move(keys));
    });
  }
  while (a.is_next(4)) {
    a.item(4, [&] {
      std::string key;
      a(1, key);
      a.check(entries_.empty() || entries_.rbegin()->first < key, "keys are not in order");
      auto const at = add(key);
      a(2, at->second.value);
      a(3, at->second.version);
      bytes_ += at->second.value.size();
      std::optional<task_id> owner;
      std::uint64_t place{};
      a(4, owner);
      a(5, place);
      a(6, at->second.made_by.self);
      a(7, at->second.made_by.task);
      bool const is_known = (!owner || owned_.contains(*owner)) && place <= ended.size();
      a.check(is_known, "the owner of a key is not known");
      if (owner) give(at, *owned_.at(*owner));
      if (place != 0 && !owner) give(at, *ended[place - 1]);
    });
  }
}

void kv_store::fields(auto& a, auto& s) {
  a(1, s.waiter_);
  if constexpr (is_loading<decltype(a)>) {
    s.load(a);
  } else {
    s.save(a);
  }
  a(6, s.waiters_);
  a(7, s.changes_);
  if constexpr (is_loading<decltype(a)>) {
    for (auto const& [_, of_key] : s.waiters_) s.waiting_ += of_key.size();
  }
}

void fields(auto& a, maybe_const<joint_gets::get> auto& x) {
  a.members(x.keys, x.at, x.waiter, x.bytes, x.looked, x.is_woken, x.without_values);
  a.check(x.at < x.keys.size(), "a get waits at no key");
}

void joint_gets::fields(auto& a, auto& s) {
  a.members(s.last_, s.gets_, s.woken_);
  if constexpr (is_loading<decltype(a)>) {
    for (auto const& [_, get] : s.gets_) s.memory_->add(get.bytes);
  }
}

void key_watches::fields(auto& a, auto& s) {
  a.members(s.number_, s.by_directory_);
  if constexpr (is_loading<decltype(a)>) {
    for (auto const& [_, of_one] : s.by_directory_) s.waiting_ += of_one.size();
  }
}

void queues::fields(auto& a, auto& s) {
  a.members(s.number_, s.waiter_, s.queues_);
  if constexpr (is_loading<decltype(a)>) {
    for (auto const& [name, queue] : s.queues_) {
      s.items_ += queue.items.size();
      s.waiting_ += queue.waiters.size();
      s.memory_->add(queue.items.size() * overhead(name));
    }
  }
}

void leases::fields(auto& a, auto& s) {
  a(1, s.all_);
  if constexpr (is_loading<decltype(a)>) {
    for (auto const& [item, lease] : s.all_) s.index(item, lease);
  }
}

void key_verbs::save(state_writer& to) const { fields(to, *this); }
void key_verbs::load(state_reader& from) { fields(from, *this); }

void multi_get_verbs::save(state_writer& to) const { fields(to, *this); }
void multi_get_verbs::load(state_reader& from) {
  fields(from, *this);
  sessions_.all().each([&](session_id, session& s) {
    s.open.each([&](request_id, parked const& p) {
      if (p.at != index()) return;
      from.check(joint_gets_.has(p.number), "a get of several keys is lost");
      sessions_.hold(s, joint_gets_.at(p.number).bytes);
    });
  });
}

void queue_verbs::save(state_writer& to) const { fields(to, *this); }
void queue_verbs::load(state_reader& from) {
  fields(from, *this);
  for (auto const& [_, lease] : leases_.all()) {
    if (session* const owner = sessions_.find(lease.owner)) {
      sessions_.hold(*owner, leases::cost(lease.queue));
    }
  }
}

void key_watch_verbs::save(state_writer& to) const { fields(to, *this); }
void key_watch_verbs::load(state_reader& from) { fields(from, *this); }

void locks::save(state_writer& to) const { fields(to, *this); }
void locks::load(state_reader& from) {
  fields(from, *this);
  for (auto const& [name, held] : held_) {
    owned_.emplace(held.owner, name);
    memory_.add(cost(name));
    if (session* const owner = sessions_.find(held.owner)) sessions_.hold(*owner, cost(name));
  }
}

}  // namespace coxswain::core
