#pragma once
// A map with ids that are never reused: an id is a slot and the slot's generation, so that a late
// message for an erased object finds nothing instead of its successor. Objects never move, so
// adding one is fast however many there are.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace coxswain::core {

// An array that grows without moving its elements. Not boost::container::deque, whose lookup
// divides.
template <class T>
class block_array {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept {
    return blocks_[i / block_size][i % block_size];
  }
  [[nodiscard]] T const& operator[](std::size_t i) const noexcept {
    return blocks_[i / block_size][i % block_size];
  }

  // Throws std::bad_alloc.
  T& emplace_back() {
    if (size_ == blocks_.size() * block_size) blocks_.push_back(std::make_unique<T[]>(block_size));
    return (*this)[size_++];
  }

  void clear() noexcept {
    blocks_.clear();
    size_ = 0;
  }

 private:
  static constexpr std::size_t block_size = 64;

  std::vector<std::unique_ptr<T[]>> blocks_;
  std::size_t size_{};
};

template <class Id, class T>
class slot_map {
 public:
  // The id of the new object; never zero.
  Id insert(T thing) {
    std::uint32_t index;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(slots_.size());
      slots_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    slot& s = slots_[index];
    s.thing.emplace(std::move(thing));
    ++size_;
    return id_of(index);
  }

  void erase(Id id) {
    assert(find(id));
    std::uint32_t const index = index_of(id);
    slots_[index].thing.reset();
    ++slots_[index].generation;
    free_.push_back(index);
    --size_;
  }

  // Null if it was erased. Valid until it is erased.
  [[nodiscard]] T* find(Id id) {
    if (index_of(id) >= slots_.size()) return nullptr;
    slot& s = slots_[index_of(id)];
    return s.generation == generation_of(id) && s.thing ? &*s.thing : nullptr;
  }
  [[nodiscard]] T const* find(Id id) const { return const_cast<slot_map*>(this)->find(id); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Visits all by slot. `visit` may erase the object it is given, but not insert.
  template <class Visit>
  void each(Visit visit) {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].thing) visit(id_of(i), *slots_[i].thing);
    }
  }
  template <class Visit>
  void each(Visit visit) const {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].thing) visit(id_of(i), *slots_[i].thing);
    }
  }

  static void fields(auto& a, auto& s);

 private:
  struct slot {
    std::optional<T> thing;
    std::uint32_t generation{1};

    static void fields(auto& a, auto& s) { a.members(s.generation, s.thing); }
  };

  [[nodiscard]] static std::uint32_t index_of(Id id) {
    return static_cast<std::uint32_t>(id.value);
  }
  [[nodiscard]] static std::uint32_t generation_of(Id id) {
    return static_cast<std::uint32_t>(id.value >> 32);
  }
  [[nodiscard]] Id id_of(std::uint32_t index) const {
    return Id{std::uint64_t{slots_[index].generation} << 32 | index};
  }

  block_array<slot> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t size_{};
};

// Additional data for the objects of a slot_map, under the same ids, with the same lookup cost.
template <class Id, class T>
class slot_table {
 public:
  // There must be none with this id or in its slot.
  void emplace(Id id, T thing) {
    while (index_of(id) >= places_.size()) places_.emplace_back();
    assert(places_[index_of(id)].id == Id{});
    places_[index_of(id)] = {id, std::move(thing)};
    ++size_;
  }

  // Does nothing if there is none.
  void erase(Id id) {
    if (!find(id)) return;
    places_[index_of(id)] = {};
    --size_;
  }

  // Null if there is none. Valid until it is erased.
  [[nodiscard]] T* find(Id id) {
    if (id == Id{} || index_of(id) >= places_.size()) return nullptr;
    place& at = places_[index_of(id)];
    return at.id == id ? &at.thing : nullptr;
  }
  [[nodiscard]] T const* find(Id id) const { return const_cast<slot_table*>(this)->find(id); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void clear() noexcept {
    places_.clear();
    size_ = 0;
  }

  // Visits all by slot. `visit` may neither add nor erase.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].id != Id{}) visit(places_[i].id, places_[i].thing);
    }
  }

 private:
  struct place {
    Id id{};
    T thing{};
  };

  [[nodiscard]] static std::uint32_t index_of(Id id) {
    return static_cast<std::uint32_t>(id.value);
  }

  block_array<place> places_;
  std::size_t size_{};
};

}  // namespace coxswain::core
