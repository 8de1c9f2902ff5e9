#include "tests/sim/everything/rules/epoch_stories.hpp"

#include <charconv>

namespace coxswain::sim {

std::optional<std::uint64_t> number_in(std::string_view line, std::string_view before,
                                       std::string_view after) {
  if (!line.starts_with(before)) return std::nullopt;
  std::uint64_t number = 0;
  auto const [end, error] =
      std::from_chars(line.data() + before.size(), line.data() + line.size(), number);
  if (error != std::errc{}) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return line.starts_with(after) ? std::optional{number} : std::nullopt;
}

core::epoch_answer const* epoch_in(call_record const& c) {
  auto const* answer = c.gave<core::epoch_answer>();
  auto const* const joined = c.gave<core::join_answer>();
  if (joined && joined->epoch) answer = &*joined->epoch;
  return answer && answer->size > 0 ? answer : nullptr;
}

epoch_stories::epoch_stories(history const& h) : h_{h} {
  for (std::size_t i = 0; i < h.events.size(); ++i) {
    std::string const& line = h.events[i].what.what.text;
    if (auto const number = number_in(line, "epoch ", " begins: ")) (*this)[*number].begins = i;
    if (auto const number = number_in(line, "epoch ", " is over: ")) (*this)[*number].is_over = i;
  }
  std::map<std::uint64_t, core::epoch_members_answer> read;
  for (call_record const& c : h.calls) {
    if (auto const* const page = c.gave<core::epoch_members_answer>()) {
      auto& all = read[page->epoch];
      auto const first = c.asks<core::epoch_members_args>()->first_task.value;
      if (first == all.members.size()) {
        all.epoch = page->epoch;
        all.members.insert(all.members.end(), page->members.begin(), page->members.end());
        if (!page->next_task) (*this)[page->epoch].members = all;
      }
      static_cast<void>((*this)[page->epoch]);
    }
    if (auto const* const answer = epoch_in(c))
      (*this)[answer->number].answered.emplace(answer->rank, &c);
  }
}

time_point epoch_stories::begun_by(std::uint64_t number) const {
  auto const at = find(number);
  bool const is_seen = at != end() && at->second.begins;
  return is_seen ? h_.events[*at->second.begins].at : time_point::max();
}

bool epoch_stories::may_have_begun(std::uint64_t number, time_point by) const {
  time_point const at = begun_by(number);
  return !h_.has_all_events() || (at != time_point::max() && h_.earliest(at) <= by);
}

}  // namespace coxswain::sim
