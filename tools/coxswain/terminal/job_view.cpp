#include "terminal/job_view.hpp"

#include <array>
#include <utility>

namespace coxswain::tools {

void take_events(std::deque<core::events_answer::entry>& kept,
                 std::vector<core::events_answer::entry> news) {
  for (auto& one : news) {
    if (one.count > 1) std::erase_if(kept, [&](auto const& e) { return e.first == one.first; });
    kept.push_back(std::move(one));
  }
  std::array<std::size_t, 3> counts{};
  for (auto const& e : kept) ++counts[static_cast<std::size_t>(e.what.level)];
  std::erase_if(kept, [&](auto const& e) {
    auto& count = counts[static_cast<std::size_t>(e.what.level)];
    return count > events_kept_max && count-- > 0;
  });
}

}  // namespace coxswain::tools
