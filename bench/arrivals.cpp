#include "arrivals.hpp"

#include "bench_error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace coxswain::bench {
namespace {

constexpr std::string_view jittered_prefix = "jittered:";

// "250us", "5ms", "1s"; zero if it is none of these.
duration parse_duration(std::string_view text) {
  std::int64_t number = 0;
  auto const end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  auto const unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (number <= 0 || number > 1'000'000) return {};
  if (unit == "us") return std::chrono::microseconds{number};
  if (unit == "ms") return std::chrono::milliseconds{number};
  if (unit == "s" && number <= 10) return std::chrono::seconds{number};
  return {};
}

}  // namespace

arrivals arrivals::parse(std::string const& text) {
  if (text == "together") return {pattern::together, {}};
  if (text == "ordered") return {pattern::ordered, {}};
  if (text.starts_with(jittered_prefix)) {
    auto const within = parse_duration(std::string_view{text}.substr(jittered_prefix.size()));
    if (within > 0ns && within <= 10s) return {pattern::jittered, within};
  }
  throw bench_error{
      fmt::format("--arrivals is '{}', but must be together, ordered, or jittered and "
                  "a time up to 10 s, such as jittered:5ms",
                  text),
      exit_code::usage};
}

}  // namespace coxswain::bench
