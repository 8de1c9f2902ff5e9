#include "coxswain/status/process_usage.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

namespace coxswain::status_page {
namespace {

double seconds(timeval const& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

// When the machine was booted, in seconds since 1970.
double boot_time() {
  std::ifstream from{"/proc/stat"};
  for (std::string line; std::getline(from, line);) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return 0;
}

// The fields of /proc/self/stat after the name of the program (proc(5)): 18 more are the threads,
// 20 more the start in ticks since the boot, then the virtual bytes and the resident pages.
void read_stat(process_usage& into) {
  std::ifstream from{"/proc/self/stat"};
  std::string line;
  std::getline(from, line);
  std::istringstream rest{line.substr(std::min(line.rfind(')') + 1, line.size()))};
  std::string skipped;
  for (int i = 0; i < 17; ++i) rest >> skipped;
  double ticks{};
  std::uint64_t pages{};
  rest >> into.threads >> skipped >> ticks >> into.virtual_bytes >> pages;
  into.resident_bytes = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  into.started_unix_s = boot_time() + ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::uint64_t open_descriptors() {
  std::error_code problem;
  std::filesystem::directory_iterator all{"/proc/self/fd", problem};
  if (problem) return 0;
  auto const count = std::distance(begin(all), end(all));
  return count > 0 ? static_cast<std::uint64_t>(count - 1) : 0;  // without the one that lists them
}

}  // namespace

process_usage usage_of_this_process() {
  process_usage now;
  read_stat(now);
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0) {
    now.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) now.descriptors_max = limit.rlim_cur;
  now.open_descriptors = open_descriptors();
  return now;
}

}  // namespace coxswain::status_page
