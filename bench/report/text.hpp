#pragma once
// Figures as people read them.

#include <cstdint>
#include <string>
#include <string_view>

namespace coxswain::bench {

// "850 ns", "9.12 us", "14.3 ms", "1.85 s": three figures.
[[nodiscard]] std::string time_text(double ns);

// "64 B", "1.50 KiB", "12.0 MiB".
[[nodiscard]] std::string bytes_text(double bytes);
[[nodiscard]] inline std::string bytes_text(std::uint64_t bytes) {
  return bytes_text(static_cast<double>(bytes));
}

// "850 /s", "12,345 /s".
[[nodiscard]] std::string rate_text(double per_second);

// "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t n);

// "1 task", "1,024 tasks".
[[nodiscard]] std::string counted(std::uint64_t n, std::string_view noun);

}  // namespace coxswain::bench
