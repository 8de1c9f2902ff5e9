#include "origin.hpp"

#include "text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <string_view>

#include <sys/utsname.h>
#include <unistd.h>

namespace coxswain::bench {
namespace {

std::string processor() {
  std::ifstream file{"/proc/cpuinfo"};
  for (std::string line; std::getline(file, line);) {
    auto const colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::string machine() {
  constexpr double gib = 1024.0 * 1024 * 1024;
  auto const bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  utsname system{};
  uname(&system);
  return fmt::format("{}, {}, {:.0f} GiB, {} {}", processor(),
                     counted(static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_ONLN)), "CPU"),
                     std::round(bytes / gib), static_cast<char const*>(system.sysname),
                     static_cast<char const*>(system.release));
}

std::string program() {
#ifdef NDEBUG
  constexpr std::string_view purpose = "release";
#else
  constexpr std::string_view purpose = "debugging: it is slow";
#endif
#ifdef __clang__
  constexpr std::string_view compiler = "";  // its version begins with its name
#else
  constexpr std::string_view compiler = "g++ ";
#endif
  return fmt::format("coxswain-bench {}, built by {}{} for {}", COXSWAIN_VERSION, compiler,
                     __VERSION__, purpose);
}

}  // namespace

origin here() {
  return {machine(), program(), fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))};
}

}  // namespace coxswain::bench
