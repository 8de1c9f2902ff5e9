#pragma once
// The waiting requests of a session, by id, in one contiguous buffer; a single one needs no
// allocation. Lookup needs no search as long as ids rise by one. Not here: what they wait for.

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/kernel/deadlines.hpp"
#include "coxswain/core/kernel/rare_string.hpp"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace coxswain::core {

// The index of a concern in which requests wait.
using concern_index = id<struct concern_tag, std::uint8_t>;

// A waiting request. Its concern finds it by name and number, which it alone interprets.
struct parked {
  rare_string name;
  std::uint64_t number{};
  time_point since;
  std::optional<task_id> task;
  alarm deadline;  // unless it waits in a meeting, which has one for all
  concern_index at;
};

// The time from now until the deadline of a request that waits.
[[nodiscard]] inline duration time_left(parked const& waits, duration timeout, time_point now) {
  if (timeout == without_limit) return timeout;
  return std::max<duration>(deadline_after(waits.since, timeout) - now, 0s);
}

class open_requests {
 public:
  // There must be none with this id. Ids rise, except for requests that are sent again.
  void add(request_id id, parked&& p) {
    assert(!contains(id));
    if (slots_.empty() || slots_.back().id < id) {
      slots_.push_back({id, std::move(p), true});
      return;
    }
    std::size_t const at = place_of(id);
    if (slots_[at].id != id) {
      slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(at), slot{});
      ++taken_;
    }
    --taken_;
    slots_[at] = {id, std::move(p), true};
  }

  // Removes the request. Does nothing if it did not wait.
  std::optional<parked> take(request_id id) {
    slot* const found = find(id);
    if (!found) return std::nullopt;
    std::optional<parked> p{std::move(found->what)};
    found->waits = false;
    ++taken_;
    if (2 * taken_ >= slots_.size()) forget_taken();
    return p;
  }

  // It keeps waiting, but for no task. It must exist.
  void disown(request_id id) { find(id)->what.task.reset(); }

  [[nodiscard]] bool contains(request_id id) const { return find(id) != nullptr; }
  // Null: it does not wait.
  [[nodiscard]] parked const* look(request_id id) const {
    slot const* const found = find(id);
    return found ? &found->what : nullptr;
  }

  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size() - taken_; }

  // Visits all by id. `visit` may neither add nor remove any.
  template <class Visit>
  void each(Visit visit) const {
    for (slot const& place : slots_) {
      if (place.waits) visit(place.id, place.what);
    }
  }

  static void fields(auto& a, auto& s);

 private:
  // When empty, the capacity kept is at most this.
  static constexpr std::size_t kept_room = 128;

  struct slot {
    request_id id{};
    [[no_unique_address]] parked what;  // whose padding has room for:
    bool waits{};
  };

  // The position of the first whose id is not below this one. There must be one.
  [[nodiscard]] std::size_t place_of(request_id id) const {
    auto const is_before = [](slot const& place, request_id other) { return place.id < other; };
    auto const found = std::lower_bound(slots_.begin(), slots_.end(), id, is_before);
    return static_cast<std::size_t>(found - slots_.begin());
  }

  [[nodiscard]] slot const* find(request_id id) const {
    if (slots_.empty() || id < slots_.front().id || slots_.back().id < id) return nullptr;
    // Ids often rise by one.
    std::size_t at = id.value - slots_.front().id.value;
    if (at >= slots_.size() || slots_[at].id != id) at = place_of(id);
    return slots_[at].id == id && slots_[at].waits ? &slots_[at] : nullptr;
  }
  [[nodiscard]] slot* find(request_id id) {
    return const_cast<slot*>(std::as_const(*this).find(id));
  }

  // Erases the slots that no longer wait once they are half of all, so that each costs O(1).
  void forget_taken() {
    if (empty()) {
      slots_.clear();
    } else {
      auto const is_taken = [](slot const& place) { return !place.waits; };
      slots_.erase(std::remove_if(slots_.begin(), slots_.end(), is_taken), slots_.end());
    }
    taken_ = 0;
    if (slots_.empty() && slots_.capacity() > kept_room) slots_.shrink_to_fit();
  }

  boost::container::small_vector<slot, 1> slots_;  // by id
  std::size_t taken_{};                            // slots that no longer wait, anywhere
};

}  // namespace coxswain::core
