#pragma once
// Calls that wait for changes below a directory. Not here: the changes (change_log), replies and
// deadlines (coordinator).

#include "coxswain/core/kernel/ticket.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

class key_watches {
 public:
  // Identifies a watch of a directory.
  using watch_number = std::uint64_t;

  watch_number wait(std::string const& directory, ticket who);
  void cancel(std::string const& directory, watch_number number);

  // The watched directories that contain the key or are equal to it.
  template <class Visit>
  void each_concerned(std::string_view key, Visit visit) const {
    auto const look = [&](std::string_view directory) {
      auto const at = by_directory_.find(directory);
      if (at != by_directory_.end()) visit(at->first);
    };
    look("");
    for (auto slash = key.find('/'); slash != key.npos; slash = key.find('/', slash + 1)) {
      look(key.substr(0, slash));
    }
    look(key);
  }

  // Removes and returns the watches of the directory, oldest first. There must be one.
  std::vector<ticket> take(std::string const& directory);

  // The same for all directories, in their order.
  std::vector<ticket> take_all();

  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }

  static void fields(auto& a, auto& s);

 private:
  std::map<std::string, std::map<watch_number, ticket>, std::less<>> by_directory_;
  watch_number number_{};
  std::size_t waiting_{};
};

// The key is the directory or below it; the empty one is the root.
[[nodiscard]] inline bool lies_below(std::string_view key, std::string_view directory) {
  return directory.empty() || (key.starts_with(directory) &&
                               (key.size() == directory.size() || key[directory.size()] == '/'));
}

}  // namespace coxswain::core
