#include "process/keep_recording.hpp"

#include "process/user_directory.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/server/recording/recording_file.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t recordings_kept = 20;

// The directory of recordings without a given name: the state directory, or if that cannot be used,
// the one for temporary files.
fs::path recordings_directory() {
  auto const directory = state_directory();
  std::error_code problem;
  bool const is_new = fs::create_directories(directory, problem);
  if (is_new) fs::permissions(directory, fs::perms::owner_all, problem);
  if (!problem && ::access(directory.c_str(), W_OK) == 0) return directory;
  auto const temporary = fs::temp_directory_path(problem);
  return problem ? fs::path{"/tmp"} : temporary;
}

// Removes all but the newest recordings without a given name.
void remove_oldest(fs::path const& directory) {
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  std::error_code problem;
  for (fs::directory_iterator i{directory, problem}; !problem && i != fs::directory_iterator{};
       i.increment(problem)) {
    auto const name = i->path().filename().string();
    if (!name.starts_with("coxswain-") || !name.ends_with(".recording")) continue;
    all.emplace_back(i->last_write_time(problem), i->path());
  }
  std::sort(all.begin(), all.end(), std::greater{});
  for (auto i = recordings_kept; i < all.size(); ++i) fs::remove(all[i].second, problem);
}

}  // namespace

void log_failure(status const& of_recording) { spdlog::error("{}", of_recording.message()); }

void keep_recording(std::string const& recording) {
  auto const directory = recordings_directory();
  auto const path = (directory / fmt::format("coxswain-{:%Y%m%dT%H%M%S}-{}.recording",
                                             fmt::localtime(std::time(nullptr)), ::getpid()))
                        .string();
  try {
    server::recording_file file{path, &log_failure};
    file.write(recording);
    if (!file.finish().ok()) return;
    remove_oldest(directory);
    spdlog::warn("wrote recording '{0}'; view it with: coxswain replay {0}", path);
  } catch (error const& problem) {
    spdlog::warn("{}", problem.outcome().message());
  }
}

}  // namespace coxswain::tools
