#include "options/units.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>

namespace coxswain::tools {
namespace {

struct unit {
  std::string_view name;
  double factor;
};

constexpr unit time_units[]{
    {"ns", 1},         {"us", 1e3},      {"ms", 1e6},       {"s", 1e9},     {"sec", 1e9},
    {"secs", 1e9},     {"second", 1e9},  {"seconds", 1e9},  {"m", 60e9},    {"min", 60e9},
    {"mins", 60e9},    {"minute", 60e9}, {"minutes", 60e9}, {"h", 3600e9},  {"hr", 3600e9},
    {"hrs", 3600e9},   {"hour", 3600e9}, {"hours", 3600e9}, {"d", 86400e9}, {"day", 86400e9},
    {"days", 86400e9},
};

// A letter alone is a power of 1024, as for Slurm and Docker.
constexpr unit size_units[]{
    {"", 1},
    {"B", 1},
    {"kB", 1e3},
    {"KB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
    {"k", 1024.0},
    {"K", 1024.0},
    {"KiB", 1024.0},
    {"M", 1024.0 * 1024},
    {"MiB", 1024.0 * 1024},
    {"G", 1024.0 * 1024 * 1024},
    {"GiB", 1024.0 * 1024 * 1024},
    {"T", 1024.0 * 1024 * 1024 * 1024},
    {"TiB", 1024.0 * 1024 * 1024 * 1024},
    {"PiB", 1024.0 * 1024 * 1024 * 1024 * 1024},
};

bool begins_unit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Takes "1.5min" from the front of the text; none if there is no such thing.
std::optional<double> take_quantity(std::string_view& text, std::span<unit const> units) {
  double number{};
  auto const [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (problem != std::errc{} || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  std::size_t length{};
  while (length < text.size() && begins_unit(text[length])) ++length;
  for (auto const& u : units) {
    if (u.name != text.substr(0, length)) continue;
    text.remove_prefix(length);
    return number * u.factor;
  }
  return std::nullopt;
}

std::string three_digits(double number) {
  if (number >= 99.95) return fmt::format("{:.0f}", number);
  return number >= 9.995 ? fmt::format("{:.1f}", number) : fmt::format("{:.2f}", number);
}

}  // namespace

std::optional<duration> parse_duration(std::string_view text) {
  if (text == "0") return duration{};
  if (text.empty()) return std::nullopt;
  double sum{};
  while (!text.empty()) {
    auto const part = take_quantity(text, time_units);
    if (!part) return std::nullopt;
    sum += *part;
  }
  // A larger value would be `without_limit`, which must be given by name.
  if (!(sum < static_cast<double>(duration::max().count()))) return std::nullopt;
  return duration{std::llround(sum)};
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  auto const size = take_quantity(text, size_units);
  // Up to 2^53 every number of bytes is exact.
  if (!size || !text.empty() || *size > 9007199254740992.0) return std::nullopt;
  return static_cast<std::uint64_t>(*size);
}

std::string text_of(duration d) {
  if (d == without_limit) return "for ever";
  if (d == duration{}) return "0 s";
  auto const ns = static_cast<double>(d.count());
  if (ns < 1e3) return fmt::format("{} ns", d.count());
  if (ns < 1e6) return three_digits(ns / 1e3) + " us";
  if (ns < 1e9) return three_digits(ns / 1e6) + " ms";
  if (ns < 120e9) return three_digits(ns / 1e9) + " s";
  if (ns < 7200e9) return three_digits(ns / 60e9) + " min";
  if (ns < 2 * 86400e9) return three_digits(ns / 3600e9) + " h";
  return three_digits(ns / 86400e9) + " days";
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto amount = static_cast<double>(bytes);
  auto const* name = "B";
  for (auto const* larger : {"KiB", "MiB", "GiB", "TiB"}) {
    if (amount < 1024) break;
    amount /= 1024;
    name = larger;
  }
  return three_digits(amount) + " " + name;
}

}  // namespace coxswain::tools
