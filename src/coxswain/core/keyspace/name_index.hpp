#pragma once
// A hash index of an ordered map: with a million names a lookup in the map alone takes twenty cache
// misses. Growing moves hashes and does not read the names.

#include <boost/unordered/unordered_flat_set.hpp>

#include <cstddef>
#include <functional>
#include <string_view>

namespace coxswain::core {

// `Map` goes from names to anything, and its iterators stay valid until their entries are erased.
template <class Map>
class name_index {
 public:
  using iterator = typename Map::iterator;

  // The entry's name must not be in the index yet.
  void add(iterator at) { places_.insert({hash_of(at->first), at}); }
  // Before the entry is erased.
  void remove(iterator at) { places_.erase(place{hash_of(at->first), at}); }

  // Null if there is no such name. Valid until add or remove.
  [[nodiscard]] iterator const* find(std::string_view name) const {
    auto const found = places_.find(sought{hash_of(name), name});
    return found == places_.end() ? nullptr : &found->at;
  }

 private:
  struct place {
    std::size_t hash;
    iterator at;
  };
  struct sought {
    std::size_t hash;
    std::string_view name;
  };
  struct hash_of_place {
    using is_transparent = void;
    std::size_t operator()(place const& p) const noexcept { return p.hash; }
    std::size_t operator()(sought const& s) const noexcept { return s.hash; }
  };
  struct same_name {
    using is_transparent = void;
    bool operator()(place const& a, place const& b) const noexcept { return a.at == b.at; }
    bool operator()(sought const& a, place const& b) const noexcept {
      return a.hash == b.hash && a.name == b.at->first;
    }
    bool operator()(place const& a, sought const& b) const noexcept { return (*this)(b, a); }
  };

  [[nodiscard]] static std::size_t hash_of(std::string_view name) noexcept {
    return std::hash<std::string_view>{}(name);
  }

  boost::unordered_flat_set<place, hash_of_place, same_name> places_;
};

}  // namespace coxswain::core
