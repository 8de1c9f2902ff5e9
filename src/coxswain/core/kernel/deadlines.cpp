#include "coxswain/core/kernel/deadlines.hpp"

#include <tuple>

namespace coxswain::core {

void deadlines::arm(alarm& a, due_item item) {
  disarm(a);
  std::uint32_t slot;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  slots_[slot].item = item;
  slots_[slot].sequence = sequence_++;
  a.slot_ = slot;
  heap_.push_back(slot);
  place(static_cast<std::uint32_t>(heap_.size() - 1), slot);
  rise(slots_[slot].position);
}

void deadlines::disarm(alarm& a) {
  if (!a.armed()) return;
  std::uint32_t const slot = a.slot_;
  a.slot_ = alarm::none;
  std::uint32_t const hole = slots_[slot].position;
  std::uint32_t const last = heap_.back();
  heap_.pop_back();
  free_.push_back(slot);
  if (last == slot) return;
  place(hole, last);
  rise(hole);
  sink(slots_[last].position);
}

std::optional<time_point> deadlines::when(alarm const& a) const {
  if (!a.armed()) return std::nullopt;
  return slots_[a.slot_].item.when;
}

std::optional<time_point> deadlines::next() const {
  if (heap_.empty()) return std::nullopt;
  return slots_[heap_.front()].item.when;
}

std::optional<due_item> deadlines::due_at(time_point now) const {
  if (heap_.empty() || slots_[heap_.front()].item.when > now) return std::nullopt;
  return slots_[heap_.front()].item;
}

bool deadlines::before(std::uint32_t a, std::uint32_t b) const {
  entry const& x = slots_[a];
  entry const& y = slots_[b];
  return std::tie(x.item.when, x.sequence) < std::tie(y.item.when, y.sequence);
}

void deadlines::place(std::uint32_t position, std::uint32_t slot) {
  heap_[position] = slot;
  slots_[slot].position = position;
}

void deadlines::rise(std::uint32_t position) {
  std::uint32_t const slot = heap_[position];
  while (position > 0) {
    std::uint32_t const parent = (position - 1) / 2;
    if (!before(slot, heap_[parent])) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, slot);
}

void deadlines::sink(std::uint32_t position) {
  std::uint32_t const slot = heap_[position];
  auto const size = static_cast<std::uint32_t>(heap_.size());
  for (;;) {
    std::uint32_t child = 2 * position + 1;
    if (child >= size) break;
    if (child + 1 < size && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], slot)) break;
    place(position, heap_[child]);
    position = child;
  }
  place(position, slot);
}

}  // namespace coxswain::core
