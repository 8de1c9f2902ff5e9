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
  a(1, s.sequence_);
  a(2, s.free_);
  a(3, s.heap_);
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
      a.item(1, [&] {
        request_id which;
        parked what;
        a(1, which);
        a(2, what);
        a.check(s.slots_.empty() || which > s.slots_.back().id, "open requests are not in order");
        s.add(which, std::move(what));
      });
    }
  } else {
    s.each([&](request_id which, parked const& what) {
      a.item(1, [&] {
        a(1, which);
        a(2, what);
      });
    });
  }
}

void lateness::fields(auto& a, auto& s) {
  a(1, s.answered_);
  a(2, s.max_);
  auto const known = std::min<std::uint64_t>(s.answered_, s.last_.size());
  std::vector<duration> last{s.last_.begin(), s.last_.begin() + static_cast<std::ptrdiff_t>(known)};
  a(3, last);
  if constexpr (is_loading<decltype(a)>) {
    a.check(last.size() == known, "late answers are missing");
    std::copy(last.begin(), last.end(), s.last_.begin());
  }
}

void roster::fields(auto& a, auto& s) {
  a(1, s.version_);
  auto size = static_cast<std::uint32_t>(s.tasks_.size());
  a(3, size);  // not the job's in an elastic job
  if constexpr (is_loading<decltype(a)>) {
    if (size == 0) size = a.num_tasks();  // before there were elastic jobs
    a.check(size <= a.num_tasks(), "there are more tasks than the job has");
    s.tasks_ = std::vector<task>(size);
  }
  for (auto& one : s.tasks_) a(2, one);
  if constexpr (is_loading<decltype(a)>) {
    s.count_all();
  }
}

void sessions::fields(auto& a, auto& s) {
  a(1, s.connections_made_);
  a(2, s.connections_);
  a(3, s.sessions_);
  if constexpr (is_loading<decltype(a)>) s.count_all();
}

void fields(auto& a, maybe_const<statistics> auto& x) {
  a(1, x.rounds);
  a(2, x.barrier_wait);
  a(3, x.lateness);
  a(4, x.heartbeats_expired);
  a(5, x.graces_expired);
  a(6, x.stalls);
  a(7, x.stalled);
  a(8, x.steps);
  a(9, x.requests[unknown_operation.value]);
  // An older version knew fewer operations.
  for (std::size_t i = 0; i < unknown_operation.value; ++i) {
    if constexpr (is_loading<decltype(a)>) {
      if (!a.is_next(10)) break;
    }
    a.item(10, [&] { a(1, x.requests[i]); });
  }
  a(11, x.leases_expired);
  a(12, x.leases_returned);
}

void event_log::run::fields(auto& a, auto& s) {
  a(1, s.key);
  a(2, s.first);
  a(3, s.count);
  a(4, s.first_at);
  a(5, s.last_at);
  a(6, s.lines);
  std::string tasks;  // one character each
  for (bool const is_in : s.tasks) tasks += is_in ? '1' : '0';
  a(7, tasks);
  if constexpr (is_loading<decltype(a)>) {
    for (char const one : tasks) s.tasks.push_back(one == '1');
  }
}

void event_log::save(auto& a) const {
  std::unordered_map<run const*, std::uint64_t> numbers;
  for (history const& of : histories_) {
    a.item(2, [&] {
      a(1, of.bytes);
      a(2, of.dropped);
      for (auto const& [number, one] : of.lines) {
        a.item(3, [&, &number = number, &one = one] {
          a(1, number);
          a(2, one.at);
          a(3, one.what);
          auto const [at, is_new] = numbers.try_emplace(one.group.get(), numbers.size() + 1);
          if (!is_new) return a(4, at->second);
          auto const latest = runs_.find(one.group->key);
          a(5, *one.group);
          a(6, latest != runs_.end() && latest->second == one.group);
        });
      }
    });
  }
}

void event_log::load(auto& a) {
  std::vector<std::shared_ptr<run>> groups;
  for (history& of : histories_) {
    a.item(2, [&] {
      a(1, of.bytes);
      a(2, of.dropped);
      while (a.is_next(3)) {
        a.item(3, [&] {
          std::uint64_t number{};
          std::uint64_t known{};
          line one{};
          a(1, number);
          a(2, one.at);
          a(3, one.what);
          a(4, known);
          a.check(known <= groups.size(), "an event is like one that is not there");
          if (known == 0) {
            bool is_latest{};
            one.group = groups.emplace_back(std::make_shared<run>());
            a(5, *one.group);
            a(6, is_latest);
            if (is_latest) runs_[one.group->key] = one.group;
          } else {
            one.group = groups[known - 1];
          }
          bool const is_last = of.lines.empty() || of.lines.rbegin()->first < number;
          a.check(is_last, "events are not in order");
          of.lines.emplace_hint(of.lines.end(), number, std::move(one));
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
  a(1, s.observed_);
  a(2, s.stalled_);
  a(3, s.stall_told_);
  a(4, s.deadlines);
  a(5, s.sessions);
  a(6, s.roster);
  a(7, s.event_log);
  a(8, s.tally);
  a(9, s.lateness);
  a(10, s.error);
  a(11, s.stopping);
  a(12, s.out);
  a(13, s.unsent_bytes);
  a(14, s.events);
  a(15, s.term);
  if constexpr (is_loading<decltype(a)>) s.term = std::max<std::uint64_t>(s.term, 1);  // an old one
  a(16, s.refuses_storing);
  if constexpr (is_loading<decltype(a)>) s.resize_everyone();
}

void save(kernel const& from, state_writer& to) { kernel::fields(to, from); }
void load(kernel& into, state_reader& from) { kernel::fields(from, into); }

}  // namespace coxswain::core
