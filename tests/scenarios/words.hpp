#pragma once
// The words of the transcripts: durations, tasks, requests and replies.

#include "coxswain/core/model/messages.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::scenarios {

// "0", "200ms", "1.5s", "5min", "for-ever".
[[nodiscard]] duration duration_of(std::string_view text);

// The task that a client named "t3" acts for; none for other names.
[[nodiscard]] std::optional<task_id> task_of(std::string_view name);

// "DEADLINE_EXCEEDED".
[[nodiscard]] std::optional<errc> code_named(std::string_view text);

// The word at this index; throws std::runtime_error if there are fewer.
[[nodiscard]] std::string word(std::vector<std::string> const& words, std::size_t index);
// The duration at this index, or the default timeout.
[[nodiscard]] duration timeout_of(std::vector<std::string> const& words, std::size_t index);

// "barrier b 30s t0 t1"; none for an unknown verb.
[[nodiscard]] std::optional<core::request> request_of(std::vector<std::string> const& words);
constexpr auto secret_of_grants = "0123456789abcdef";

[[nodiscard]] std::string in_words(duration d);
[[nodiscard]] std::string in_words(core::answer const& a);

}  // namespace coxswain::scenarios
