#include "coxswain/core/keyspace/change_log.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace coxswain::core {
namespace {

constexpr std::size_t ring_min = 16;

// The memory for a key that a dropped change leaves to the next one in its place.
constexpr std::size_t kept_key_bytes = 64;

std::size_t bytes_of(key_change const& c) { return c.key.size() + (c.value ? c.value->size() : 0); }

}  // namespace

change_log::~change_log() {
  while (forget_oldest()) continue;
}

std::uint64_t change_log::add(std::string const& key, std::optional<bytes> value) {
  if (limits_.changes_max == 0) return ++last_;
  if (size_ == limits_.changes_max) drop_oldest();
  if (size_ == ring_.size()) grow();
  key_change& newest = at(size_);
  newest.key = key;
  newest.version = last_ + 1;
  newest.value = std::move(value);
  ++last_;
  ++size_;
  bytes_ += bytes_of(newest);
  memory_->add(overhead(key));
  if (newest.value) newest.value->hold(holder::core);
  while (bytes_ > limits_.bytes_max && size_ > 1) drop_oldest();
  return last_;
}

void change_log::grow() {
  std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(oldest_), ring_.end());
  oldest_ = 0;
  ring_.resize(std::min(std::max(2 * size_, ring_min), limits_.changes_max));
}

void change_log::drop_oldest() {
  key_change& oldest = at(0);
  bytes_ -= bytes_of(oldest);
  memory_->subtract(overhead(oldest.key));
  if (oldest.value) oldest.value->let_go(holder::core);
  oldest.value.reset();
  if (oldest.key.capacity() > kept_key_bytes) std::string{}.swap(oldest.key);
  oldest_ = place(1);
  --size_;
}

bool change_log::forget_oldest() {
  if (size_ == 0) return false;
  drop_oldest();
  if (size_ == 0) {
    std::vector<key_change>{}.swap(ring_);
    oldest_ = 0;
  }
  return true;
}

}  // namespace coxswain::core
