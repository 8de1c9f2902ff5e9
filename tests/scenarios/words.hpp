#pragma once
// The words of the transcripts: durations, tasks and replies.

#include "coxswain/core/model/messages.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace coxswain::scenarios {

// "0", "200ms", "1.5s", "5min", "for-ever".
[[nodiscard]] duration duration_of(std::string_view text);

// The task that a client named "t3" acts for; none for other names.
[[nodiscard]] std::optional<task_id> task_of(std::string_view name);

[[nodiscard]] std::string in_words(duration d);
[[nodiscard]] std::string in_words(core::answer const& a);

}  // namespace coxswain::scenarios
