#pragma once
// The last changes of all keys, in order, for watches. Versions have no gaps, so the changes after
// a version are found without a search. The oldest are dropped when the log is full, or when their
// memory is needed. Not here: the watches (key_watches).

#include "coxswain/base/bytes.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace coxswain::core {

class change_log {
  static constexpr std::size_t node_bytes = 96;

 public:
  struct limits {
    std::size_t changes_max{65'536};
    std::size_t bytes_max{64 * 1024 * 1024};  // of keys and values; a single change may exceed it
  };

  change_log(std::shared_ptr<memory_meter> memory, limits within)
      : memory_{std::move(memory)}, limits_{within} {}
  ~change_log();
  change_log(change_log const&) = delete;
  change_log& operator=(change_log const&) = delete;

  // The memory of a change, without its value, which is shared.
  [[nodiscard]] static std::size_t overhead(std::string const& key) {
    return key.size() + node_bytes;
  }

  // Its version must follow the last one.
  void add(key_change what);

  // Whether all changes after this version are kept.
  [[nodiscard]] bool remembers(std::uint64_t after) const {
    return after + changes_.size() >= last_;
  }

  // The changes after a version that is still kept, in order. `visit(change)` returns false to
  // stop.
  template <class Visit>
  void each_after(std::uint64_t after, Visit visit) const {
    std::size_t const known = changes_.size() - static_cast<std::size_t>(last_ - after);
    for (std::size_t i = known; i < changes_.size(); ++i) {
      if (!visit(changes_[i])) return;
    }
  }

  // False if there is none.
  bool forget_oldest();

  [[nodiscard]] std::size_t size() const noexcept { return changes_.size(); }
  // The most that dropping all of them can free: values may be shared with the store.
  [[nodiscard]] std::size_t cost() const noexcept { return bytes_ + node_bytes * changes_.size(); }
  // The version of the last change.
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }

 private:
  void expect_oldest() const noexcept;

  std::shared_ptr<memory_meter> memory_;
  limits limits_;
  std::deque<key_change> changes_;
  std::size_t bytes_{};
  std::uint64_t last_{};
};

}  // namespace coxswain::core
