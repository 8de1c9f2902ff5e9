#include "coxswain/base/wall_time.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string_view>

namespace coxswain {
namespace {

constexpr std::int64_t unix_ms_max = 253'402'300'799'999;  // the end of the year 9999
constexpr std::int32_t utc_offset_max = 18 * 60 * 60;

std::int32_t offset_of(wall_time at) {
  return std::clamp(at.utc_offset_s, -utc_offset_max, utc_offset_max);
}

// "2026-11-23 14:03:07.212"
std::string local_text(wall_time at) {
  using namespace std::chrono;
  std::int64_t const utc = std::clamp(at.unix_ms, std::int64_t{0}, unix_ms_max);
  std::int64_t const local =
      std::clamp(utc + offset_of(at) * std::int64_t{1000}, std::int64_t{0}, unix_ms_max);
  sys_time<milliseconds> const moment{milliseconds{local}};
  auto const day = floor<days>(moment);
  year_month_day const date{day};
  hh_mm_ss const time{moment - day};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d:%02d.%03d",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                static_cast<int>(time.subseconds().count()));
  return text.data();
}

constexpr std::size_t date_length = std::string_view{"2026-11-23"}.size();

}  // namespace

wall_time wall_time::plus(duration d) const noexcept {
  std::int64_t const from = std::clamp(unix_ms, std::int64_t{0}, unix_ms_max);
  return {from + std::chrono::floor<std::chrono::milliseconds>(d).count(), utc_offset_s};
}

std::string rfc3339(wall_time at) {
  std::string text = local_text(at);
  text[date_length] = 'T';
  int const minutes = offset_of(at) / 60;
  std::array<char, 32> zone{};
  std::snprintf(zone.data(), zone.size(), "%c%02d:%02d", minutes < 0 ? '-' : '+',
                std::abs(minutes) / 60, std::abs(minutes) % 60);
  return text + zone.data();
}

std::optional<wall_time> parse_rfc3339(std::string const& text) {
  std::tm parts{};
  char const* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  std::int64_t ms = 0;
  if (*rest == '.') {
    int unit = 100;
    for (++rest; *rest >= '0' && *rest <= '9'; ++rest, unit /= 10) ms += (*rest - '0') * unit;
  }
  rest = ::strptime(rest, "%z", &parts);
  if (rest == nullptr || rest != text.c_str() + text.size()) return std::nullopt;
  auto const offset = static_cast<std::int32_t>(parts.tm_gmtoff);
  std::int64_t const seconds = std::int64_t{::timegm(&parts)} - offset;
  if (seconds < 0) return std::nullopt;
  return wall_time{seconds * 1000 + ms, offset};
}

std::string clock_text(wall_time at, wall_time now) {
  std::string const text = local_text(at);
  bool const is_same_day = local_text(now).substr(0, date_length) == text.substr(0, date_length);
  std::string const shown = is_same_day ? text.substr(date_length + 1) : text;
  return shown.substr(0, shown.size() - 2);  // tenths of a second
}

}  // namespace coxswain
