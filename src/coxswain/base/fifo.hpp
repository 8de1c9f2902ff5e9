#pragma once
// A queue in one contiguous buffer: items are added at the end and taken from the front without an
// allocation each. The first `Inside` items need none at all.

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace coxswain {

template <class T, std::size_t Inside = 0>
class fifo {
 public:
  void push_back(T&& thing) { things_.push_back(std::move(thing)); }

  // There must be one.
  void pop_front() {
    assert(!empty());
    if (size() == 1) return clear();
    things_[taken_++] = T{};
    // So each item is moved at most once on average.
    if (taken_ >= things_.size() - taken_) take_off();
  }

  template <class Predicate>
  void erase_if(Predicate is_unwanted) {
    take_off();
    things_.erase(std::remove_if(things_.begin(), things_.end(), is_unwanted), things_.end());
    if (empty()) clear();
  }

  [[nodiscard]] bool empty() const noexcept { return taken_ == things_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return things_.size() - taken_; }
  [[nodiscard]] T& front() { return things_[taken_]; }
  [[nodiscard]] T const& front() const { return things_[taken_]; }
  [[nodiscard]] T const& back() const { return things_.back(); }

  [[nodiscard]] auto begin() { return things_.begin() + static_cast<std::ptrdiff_t>(taken_); }
  [[nodiscard]] auto end() { return things_.end(); }
  [[nodiscard]] auto begin() const { return things_.begin() + static_cast<std::ptrdiff_t>(taken_); }
  [[nodiscard]] auto end() const { return things_.end(); }

 private:
  // When empty, it keeps capacity for at most this many.
  static constexpr std::size_t kept_room = 128;

  void clear() {
    things_.clear();
    taken_ = 0;
    if (things_.capacity() > kept_room) things_.shrink_to_fit();
  }

  void take_off() {
    things_.erase(things_.begin(), begin());
    taken_ = 0;
  }

  using buffer =
      std::conditional_t<Inside == 0, std::vector<T>, boost::container::small_vector<T, Inside>>;

  buffer things_;
  std::size_t taken_{};  // the number of taken ones at the beginning
};

}  // namespace coxswain
