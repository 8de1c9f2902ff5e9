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
      slot& one = s.slots_.emplace_back();
      a(2, one);
      s.size_ += one.thing ? 1 : 0;
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
      std::pair<request_id, parked> one;
      a(1, one);
      bool const is_last = s.slots_.empty() || one.first > s.slots_.back().id;
      a.check(is_last, "open requests are not in order");
      s.add(one.first, std::move(one.second));
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
  for (auto& one : s.tasks_) a(3, one);
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

// A run is written with its first line; later lines have its place among the runs.
void event_log::fields(auto& a, auto& s) {
  a(1, s.last_);
  std::vector<std::shared_ptr<run>> groups;              // that were read
  std::unordered_map<run const*, std::uint64_t> places;  // of those that were written
  auto const describe = [&](auto& numbered) {
    auto& [number, shown] = numbered;
    std::uint64_t place{};
    if constexpr (!is_loading<decltype(a)>) {
      auto const [at, is_new] = places.try_emplace(shown.group.get(), places.size() + 1);
      if (!is_new) place = at->second;
    }
    a.members(number, shown.at, shown.what, place);
    if constexpr (is_loading<decltype(a)>) {
      a.check(place <= groups.size(), "an event is like one that is not there");
      shown.group = place > 0 ? groups[place - 1] : groups.emplace_back(std::make_shared<run>());
    }
    if (place > 0) return;
    a(5, *shown.group);
    auto const latest = s.runs_.find(shown.group->key);
    bool is_latest = latest != s.runs_.end() && latest->second == shown.group;
    a(6, is_latest);
    if constexpr (is_loading<decltype(a)>) {
      if (is_latest) s.runs_[shown.group->key] = shown.group;
    }
  };
  for (auto& history : s.histories_) {
    a.item(2, [&] {
      a.members(history.bytes, history.dropped);
      each<std::pair<std::uint64_t, line>>(
          a, 3, history.lines, [&](auto& numbered) { a.item(3, [&] { describe(numbered); }); },
          [&](auto numbered) {
            bool const is_last =
                history.lines.empty() || history.lines.rbegin()->first < numbered.first;
            a.check(is_last, "events are not in order");
            history.lines.insert(history.lines.end(), std::move(numbered));
          });
    });
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
