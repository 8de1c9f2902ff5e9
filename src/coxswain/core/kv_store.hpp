#pragma once
// The keys: an ordered map of paths to values, and who waits for which key. Every change gives the
// key a new version, drawn from one counter. Waiters are handed back to the caller, who answers
// them. Not here: deadlines and replies (coordinator).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/core/ticket.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

// The key without slashes at its ends and without runs of slashes (semantics 3.40, D18).
// INVALID_ARGUMENT: a NUL byte, or text that is not UTF-8. RESOURCE_EXHAUSTED: what remains is
// longer than `bytes_max`.
[[nodiscard]] result<std::string> normalise_key(std::string_view key, std::size_t bytes_max);

class kv_store {
 public:
  struct entry {
    bytes value;
    std::uint64_t version{};
  };

  // Identifies a waiter of a key.
  using waiter_number = std::uint64_t;

  explicit kv_store(std::shared_ptr<memory_meter> memory) : memory_{std::move(memory)} {}
  ~kv_store();
  kv_store(kv_store const&) = delete;
  kv_store& operator=(kv_store const&) = delete;

  // Null if the key has no value.
  [[nodiscard]] entry const* find(std::string const& key) const;

  // ALREADY_EXISTS: the key has a value and `overwrite` is false.
  // RESOURCE_EXHAUSTED: the store's memory is used up.
  result<entry> put(std::string const& key, std::string value, bool overwrite);

  struct sum {
    std::int64_t value{};
    std::uint64_t version{};
  };

  // FAILED_PRECONDITION: the value is not a decimal 64-bit integer. OUT_OF_RANGE: the sum is none.
  result<sum> increment(std::string const& key, std::int64_t by);

  // Removes the key and everything below it; the empty key stands for all. Returns how many.
  std::uint64_t remove(std::string const& key);

  // Everything below `directory`, at any depth, in byte order; the empty directory is the root.
  // `visit(key, entry)` returns false to stop.
  template <class Visit>
  void list(std::string const& directory, Visit visit) const {
    std::string const prefix = directory.empty() ? "" : directory + '/';
    for (auto at = entries_.lower_bound(prefix); at != entries_.end(); ++at) {
      if (!at->first.starts_with(prefix) || !visit(at->first, at->second)) return;
    }
  }

  waiter_number wait(std::string const& key, ticket who);
  void withdraw(std::string const& key, waiter_number number);

  // All who wait for the key, in the order in which they came; they wait no longer.
  std::vector<ticket> take_waiters(std::string const& key);

  // The same for all keys, in the order of the keys.
  std::vector<ticket> take_all_waiters();

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t bytes_stored() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }

 private:
  using entries = std::map<std::string, entry, std::less<>>;

  entry const& set(std::string const& key, bytes value);
  entries::iterator erase(entries::iterator at);

  std::shared_ptr<memory_meter> memory_;
  entries entries_;
  std::map<std::string, std::map<waiter_number, ticket>, std::less<>> waiters_;
  std::uint64_t version_{};
  waiter_number waiter_{};
  std::size_t bytes_{};
  std::size_t waiting_{};
};

}  // namespace coxswain::core
