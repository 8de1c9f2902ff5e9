#include "process/keep_recording.hpp"

#include "process/user_directory.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/server/recording/recording_file.hpp"
#include "coxswain/wire/recording.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view recording_extension = ".recording";
constexpr std::string_view output_extension = ".log";
constexpr std::size_t files_kept = 20;  // of each kind

std::string new_path(std::string_view extension) {
  return (state_directory(if_missing::make) / fmt::format("coxswain-{:%Y%m%dT%H%M%S}-{}{}",
                                                          fmt::localtime(std::time(nullptr)),
                                                          ::getpid(), extension))
      .string();
}

void remove_oldest(std::string_view extension) {
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  std::error_code problem;
  for (fs::directory_iterator i{state_directory(if_missing::make), problem};
       !problem && i != fs::directory_iterator{}; i.increment(problem)) {
    auto const name = i->path().filename().string();
    if (!name.starts_with("coxswain-") || !name.ends_with(extension)) continue;
    all.emplace_back(i->last_write_time(problem), i->path());
  }
  std::sort(all.begin(), all.end(), std::greater{});
  for (auto i = files_kept; i < all.size(); ++i) fs::remove(all[i].second, problem);
}

}  // namespace

void log_failure(status const& of_recording) { spdlog::error("{}", of_recording.message()); }

std::string keep_recording(std::string const& recording) {
  auto const path = new_path(recording_extension);
  try {
    server::recording_file file{path, &log_failure};
    file.write(recording);
    if (!file.finish().ok()) return {};
    remove_oldest(recording_extension);
    // One without its beginning has only events.
    bool const has_page = wire::recording_reader{recording}.head().lost == 0;
    spdlog::warn("wrote recording '{0}'; view it with: coxswain replay {0}{1}", path,
                 has_page ? " --http :0" : "");
    return path;
  } catch (error const& problem) {
    spdlog::warn("{}", problem.outcome().message());
    return {};
  }
}

kept_output keep_output() {
  auto path = new_path(output_extension);
  int const opened = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (opened < 0) return {};
  remove_oldest(output_extension);
  return {std::move(path), std::make_shared<net::descriptor const>(opened)};
}

}  // namespace coxswain::tools
