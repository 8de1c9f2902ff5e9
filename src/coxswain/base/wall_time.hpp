#pragma once
// A moment on the wall clock, and its text. Nothing here reads a clock.

#include "coxswain/base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace coxswain {

struct wall_time {
  std::int64_t unix_ms{};
  std::int32_t utc_offset_s{};  // of the local time zone; positive east of Greenwich

  [[nodiscard]] wall_time plus(duration d) const noexcept;
  friend bool operator==(wall_time const&, wall_time const&) = default;
};

// RFC 3339, in local time with its offset: "2026-11-23T14:03:07.212+01:00". Years outside 1970 to
// 9999 and offsets beyond 18 hours are clamped.
[[nodiscard]] std::string rfc3339(wall_time at);

// The inverse, of any fraction of a second and with "Z" as well. None: it is no such text, or
// before 1970.
[[nodiscard]] std::optional<wall_time> parse_rfc3339(std::string const& text);

// Local time for texts: "14:03:07.2", or "2026-11-22 14:03:07.2" if `now` is on another day.
[[nodiscard]] std::string clock_text(wall_time at, wall_time now);

}  // namespace coxswain
