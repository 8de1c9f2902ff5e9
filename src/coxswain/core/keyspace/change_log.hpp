#pragma once
// The last changes of all keys, in order, for watches. Versions have no gaps, so the changes after
// a version are found without a search. The oldest are dropped when the log is full, or when their
// memory is needed. Not here: the watches (key_watches).

#include "coxswain/base/bytes.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::core {

class change_log {
  static constexpr std::size_t node_bytes = 96;

 public:
  struct limits {
    std::size_t changes_max{65'536};
    std::size_t bytes_max{64 * 1024 * 1024};  // of keys and values; a single change may exceed it
  };

  change_log(meter_ptr memory, limits within) : memory_{std::move(memory)}, limits_{within} {}
  ~change_log();
  change_log(change_log const&) = delete;
  change_log& operator=(change_log const&) = delete;

  // The memory of a change, without its value, which is shared.
  [[nodiscard]] static std::size_t overhead(std::string const& key) {
    return key.size() + node_bytes;
  }

  // The next change, of the key to `value`; none: it was removed. Returns its version.
  std::uint64_t add(std::string const& key, std::optional<bytes> value);

  // Whether all changes after this version are kept.
  [[nodiscard]] bool remembers(std::uint64_t after) const { return after + size_ >= last_; }

  // The changes after a version that is still kept, in order. `visit(change)` returns false to
  // stop.
  template <class Visit>
  void each_after(std::uint64_t after, Visit visit) const {
    std::size_t const known = size_ - static_cast<std::size_t>(last_ - after);
    for (std::size_t i = known; i < size_; ++i) {
      if (!visit(at(i))) return;
    }
  }

  // False if there is none.
  bool forget_oldest();

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // The most that dropping all of them can free: values may be shared with the store.
  [[nodiscard]] std::size_t cost() const noexcept { return bytes_ + node_bytes * size_; }
  // The version of the last change.
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }

  static void fields(auto& a, auto& s);

 private:
  [[nodiscard]] key_change& at(std::size_t age) noexcept { return ring_[place(age)]; }
  [[nodiscard]] key_change const& at(std::size_t age) const noexcept { return ring_[place(age)]; }
  // Of the change with this many older ones.
  [[nodiscard]] std::size_t place(std::size_t age) const noexcept {
    std::size_t const unwrapped = oldest_ + age;
    return unwrapped < ring_.size() ? unwrapped : unwrapped - ring_.size();
  }
  void grow();
  void drop_oldest();

  meter_ptr memory_;
  limits limits_;
  std::vector<key_change> ring_;
  std::size_t oldest_{};  // its place
  std::size_t size_{};
  std::size_t bytes_{};
  std::uint64_t last_{};
};

}  // namespace coxswain::core
