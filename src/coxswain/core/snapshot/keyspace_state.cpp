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
    s.each_after(s.last_ - s.size_, [&](key_change const& one) {
      a.item(2, [&] { a.members(one.key, one.value); });
      return true;
    });
  }
}

// The owner of an ephemeral key is a task, or one that has ended, by its place among those.
void kv_store::fields(auto& a, auto& s) {
  using keys_ptr = std::unique_ptr<ephemeral_keys>;
  a(1, s.waiter_);
  each<std::pair<task_id, keys_ptr>>(
      a, 2, s.owned_, [&](auto& owned) { a.item(2, [&] { a(1, owned.first); }); },
      [&](auto owned) {
        owned.second = std::make_unique<ephemeral_keys>(ephemeral_keys{owned.first, false, {}});
        s.owned_.insert(std::move(owned));
      });
  each<keys_ptr>(
      a, 3, s.ended_,
      [&](auto& keys) {
        if constexpr (is_loading<decltype(a)>)
          keys = std::make_unique<ephemeral_keys>(ephemeral_keys{{}, true, {}});
        a.item(3, [&] { a(1, keys->owner); });
      },
      [&](auto keys) { s.ended_.push_back(std::move(keys)); });
  std::unordered_map<ephemeral_keys const*, std::uint64_t> places;
  for (auto const& keys : s.ended_) places.emplace(keys.get(), places.size() + 1);
  std::optional<task_id> owner;
  std::uint64_t place{};
  each<named_entry>(
      a, 4, s.entries_,
      [&](auto& named) {
        auto& [key, held] = named;
        owner = held.has_ended() ? std::nullopt : held.owner();
        place = held.has_ended() ? places.at(held.ephemeral) : 0;
        a.item(4, [&, &name = key, &held = held] {
          a.members(name, held.value, held.version, owner, place, held.made_by.self,
                    held.made_by.task);
        });
      },
      [&](auto named) {
        bool const is_last = s.entries_.empty() || s.entries_.rbegin()->first < named.first;
        a.check(is_last, "keys are not in order");
        bool const is_known = (!owner || s.owned_.contains(*owner)) && place <= s.ended_.size();
        a.check(is_known, "the owner of a key is not known");
        auto const at = s.add(named.first);
        at->second = std::move(named.second);
        s.bytes_ += at->second.value.size();
        if (owner) s.give(at, *s.owned_.at(*owner));
        if (place > 0 && !owner) s.give(at, **(s.ended_.begin() + (place - 1)));
      });
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
    for (auto const& [_, one] : s.gets_) s.memory_->add(one.bytes);
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
    for (auto const& [name, one] : s.queues_) {
      s.items_ += one.items.size();
      s.waiting_ += one.waiters.size();
      s.memory_->add(one.items.size() * overhead(name));
    }
  }
}

void leases::fields(auto& a, auto& s) {
  a(1, s.all_);
  if constexpr (is_loading<decltype(a)>) {
    for (auto const& [item, one] : s.all_) s.index(item, one);
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
  for (auto const& [_, one] : leases_.all()) {
    if (session* const owner = sessions_.find(one.owner)) {
      sessions_.hold(*owner, leases::cost(one.queue));
    }
  }
}

void key_watch_verbs::save(state_writer& to) const { fields(to, *this); }
void key_watch_verbs::load(state_reader& from) { fields(from, *this); }

void locks::save(state_writer& to) const { fields(to, *this); }
void locks::load(state_reader& from) {
  fields(from, *this);
  for (auto const& [name, one] : held_) {
    owned_.emplace(one.owner, name);
    memory_.add(cost(name));
    if (session* const owner = sessions_.find(one.owner)) sessions_.hold(*owner, cost(name));
  }
}

}  // namespace coxswain::core
