// The state of the kernel in a snapshot.

#include "coxswain/core/snapshot/kernel_state.hpp"

#include "coxswain/core/kernel/kernel.hpp"
#include "coxswain/core/snapshot/fields_of_sessions.hpp"
#include "coxswain/core/snapshot/state_reader.hpp"
#include "coxswain/core/snapshot/state_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coxswain::core {

// The slots stay as they are, since alarms refer to them.
void deadlines::fields(auto& a, auto& s) {
  a.members(s.sequence_, s.free_, s.heap_);
  if constexpr (is_loading<decltype(a)>) {
    std::size_t const count = s.free_.size() + s.heap_.size();
    std::vector<bool> seen(count);
    for (auto const* const slots : {&s.free_, &s.heap_}) {
      for (std::uint32_t const slot : *slots) {
        a.check(slot < count && !seen[slot], "the deadlines are inconsistent");
        seen[slot] = true;
      }
    }
    s.slots_.resize(count);
    for (std::uint32_t i = 0; i < s.heap_.size(); ++i) s.slots_[s.heap_[i]].position = i;
  }
  for (std::uint32_t const slot : s.heap_) a(4, s.slots_[slot]);
}

template <class Id, class T>
void slot_map<Id, T>::fields(auto& a, auto& s) {
  a(1, s.free_);
  if constexpr (is_loading<decltype(a)>) {
    while (a.is_next(2)) {
      slot& slot = s.slots_.emplace_back();
      a(2, slot);
      s.size_ += slot.thing ? 1 : 0;
    }
    std::vector<bool> seen(s.slots_.size());
    for (std::uint32_t const index : s.free_) {
      bool const is_free = index < s.slots_.size() && !s.slots_[index].thing && !seen[index];
      a.check(is_free, "a free slot is in use");
      seen[index] = true;
    }
    a.check(s.size_ + s.free_.size() == s.slots_.size(), "a slot is lost");
  } else {
    for (std::size_t i = 0; i < s.slots_.size(); ++i) a(2, s.slots_[i]);
  }
}

// Only those that wait: the rest is room.
void open_requests::fields(auto& a, auto& s) {
  if constexpr (is_loading<decltype(a)>) {
    while (a.is_next(1)) {
      std::pair<request_id, parked> entry;
      a(1, entry);
      bool const is_last = s.slots_.empty() || entry.first > s.slots_.back().id;
      a.check(is_last, "open requests are not in order");
      s.add(entry.first, std::move(entry.second));
    }
  } else {
    s.each(
        [&a](request_id which, parked const& what) { a.item(1, [&] { a.members(which, what); }); });
  }
}

void lateness::fields(auto& a, auto& s) {
  a.members(s.answered_, s.max_);
  auto const known = std::min<std::uint64_t>(s.answered_, s.last_.size());
  std::vector<duration> last{s.last_.begin(), s.last_.begin() + static_cast<std::ptrdiff_t>(known)};
  a(3, last);
  if constexpr (is_loading<decltype(a)>) {
    a.check(last.size() == known, "late answers are missing");
    std::copy(last.begin(), last.end(), s.last_.begin());
  }
}

void roster::fields(auto& a, auto& s) {
  auto size = static_cast<std::uint32_t>(s.tasks_.size());  // not the job's in an elastic job
  a.members(s.version_, size);
  if constexpr (is_loading<decltype(a)>) {
    a.check(size <= a.num_tasks(), "there are more tasks than the job has");
    s.tasks_ = std::vector<task>(size);
  }
  for (auto& task : s.tasks_) a(3, task);
  if constexpr (is_loading<decltype(a)>) s.count_all();
}

void sessions::fields(auto& a, auto& s) {
  a.members(s.connections_made_, s.connections_, s.sessions_);
  if constexpr (is_loading<decltype(a)>) s.count_all();
}

void fields(auto& a, maybe_const<statistics> auto& x) {
  a.members(x.rounds, x.barrier_wait, x.lateness, x.heartbeats_expired, x.graces_expired, x.stalls,
            x.stalled, x.steps, x.requests[unknown_operation.value], x.leases_expired,
            x.leases_returned);
  // An older version knew fewer operations.
  for (std::size_t i = 0; i < unknown_operation.value; ++i) {
    if constexpr (is_loading<decltype(a)>) {
      if (!a.is_next(12)) break;
    }
    a.item(12, [&] { a(1, x.requests[i]); });
  }
}

void event_log::run::fields(auto& a, auto& s) {
  a.members(s.key, s.first, s.count, s.first_at, s.last_at, s.lines);
  std::string tasks;  // one character each
  for (bool const is_in : s.tasks) tasks += is_in ? '1' : '0';
  a(7, tasks);
  if constexpr (is_loading<decltype(a)>) {
    for (char const task : tasks) s.tasks.push_back(task == '1');
  }
}

void event_log::save(auto& a) const {
  std::unordered_map<run const*, std::uint64_t> numbers;
  for (history const& of : histories_) {
    a.item(2, [&] {
      a.members(of.bytes, of.dropped);
      for (auto const& [number, loaded] : of.lines) {
        a.item(3, [&, &number = number, &loaded = loaded] {
          a.members(number, loaded.at, loaded.what);
          auto const [at, is_new] = numbers.try_emplace(loaded.group.get(), numbers.size() + 1);
          if (!is_new) return a(4, at->second);
          auto const latest = runs_.find(loaded.group->key);
          a(5, *loaded.group);
          a(6, latest != runs_.end() && latest->second == loaded.group);
        });
      }
    });
  }
}

void event_log::load(auto& a) {
  std::vector<std::shared_ptr<run>> groups;
  for (history& of : histories_) {
    a.item(2, [&] {
      a.members(of.bytes, of.dropped);
      while (a.is_next(3)) {
        a.item(3, [&] {
          std::uint64_t number{};
          std::uint64_t known{};
          line loaded{};
          a.members(number, loaded.at, loaded.what, known);
          a.check(known <= groups.size(), "an event is like one that is not there");
          if (known == 0) {
            bool is_latest{};
            loaded.group = groups.emplace_back(std::make_shared<run>());
            a(5, *loaded.group);
            a(6, is_latest);
            if (is_latest) runs_[loaded.group->key] = loaded.group;
          } else {
            loaded.group = groups[known - 1];
          }
          bool const is_last = of.lines.empty() || of.lines.rbegin()->first < number;
          a.check(is_last, "events are not in order");
          of.lines.emplace_hint(of.lines.end(), number, std::move(loaded));
        });
      }
    });
  }
}

void event_log::fields(auto& a, auto& s) {
  a(1, s.last_);
  if constexpr (is_loading<decltype(a)>) {
    s.load(a);
  } else {
    s.save(a);
  }
}

void kernel::fields(auto& a, auto& s) {
  a.members(s.observed_, s.stalled_, s.stall_reported_, s.deadlines, s.sessions, s.roster,
            s.event_log, s.tally, s.lateness, s.error, s.stopping, s.out, s.unsent_bytes, s.events,
            s.term, s.refuses_storing);
  if constexpr (is_loading<decltype(a)>) s.resize_everyone();
}

void save(kernel const& from, state_writer& to) { kernel::fields(to, from); }
void load(kernel& into, state_reader& from) { kernel::fields(from, into); }

}  // namespace coxswain::core
