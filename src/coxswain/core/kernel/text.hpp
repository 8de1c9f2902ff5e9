#pragma once
// Texts for people: durations, names, sets of tasks; and checks of strings.

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

// "200 ms", "1.5 s", "30 s", "5 min", "2 h"; "without limit".
[[nodiscard]] std::string in_words(duration d);

// The text; if longer than `bytes_max`, it is cut between two characters and ends in "...".
[[nodiscard]] std::string shortened(std::string_view text, std::size_t bytes_max);

constexpr std::size_t quoted_bytes_max = 200;

// The name in single quotes, cut after `quoted_bytes_max`. Not called `quoted`: an unqualified call
// with a std::string would mean std::quoted wherever <iomanip> is included.
[[nodiscard]] std::string in_quotes(std::string_view name);

struct task_ranges {
  std::string text;     // "3,17-24,900"
  std::uint32_t cut{};  // how many tasks the text leaves out
};

// Sorted tasks as ranges, in at most `bytes_max` bytes.
[[nodiscard]] task_ranges ranges(std::vector<task_id> const& tasks, std::size_t bytes_max = 4096);

// "task 3", "tasks 3,17-24 and 5 more".
[[nodiscard]] std::string in_words(std::vector<task_id> const& tasks);

// Compares in constant time, wherever the strings differ.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

// Two digits for each byte.
[[nodiscard]] std::string hexadecimal(std::string_view bytes);

// How much of the core's memory is in use, for RESOURCE_EXHAUSTED errors.
[[nodiscard]] std::string usage_text(memory_meter const& memory);

}  // namespace coxswain::core
