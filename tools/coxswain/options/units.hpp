#pragma once
// Durations and sizes as people write and read them.

#include "coxswain/base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::tools {

// "200ms", "1.5s", "5min", "10minutes", "2h", "1d", also "us" and "ns"; "0". Several add up:
// "1min30s". None if it is no such text, or too long for a duration.
[[nodiscard]] std::optional<duration> parse_duration(std::string_view text);

// "4096", "64KiB", "1.5GiB", "8G" (powers of 1024), "1MB" (powers of 1000). None: see above.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

// With three digits and the unit that fits: "1.50 s", "200 ms", "2.5 h"; "for ever".
[[nodiscard]] std::string text_of(duration d);

// "512 B", "1.5 KiB", "64 MiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace coxswain::tools
