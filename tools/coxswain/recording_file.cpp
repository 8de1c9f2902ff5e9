#include "recording_file.hpp"

#include "exit_code.hpp"
#include "machine.hpp"
#include "user_directory.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
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

// A new file beside `path` that only its owner may read; its name replaces the pattern.
std::FILE* make_beside(std::string& path) {
  path += ".XXXXXX";
  int const descriptor = ::mkstemp(path.data());
  return descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
}

// For recordings that nobody has named: the state directory, or if that cannot be had, the one for
// temporary files.
fs::path recordings_directory() {
  auto const directory = state_directory();
  std::error_code problem;
  bool const is_new = fs::create_directories(directory, problem);
  if (is_new) fs::permissions(directory, fs::perms::owner_all, problem);
  if (!problem && ::access(directory.c_str(), W_OK) == 0) return directory;
  return fs::temp_directory_path(problem);
}

// All but the newest of those that nobody has named.
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

recording_file::recording_file(std::string path) : path_{std::move(path)} {
  if (auto const name = replaceable(path_)) {
    auto beside = *name;
    file_ = make_beside(beside);
    if (file_ != nullptr && std::rename(beside.c_str(), name->c_str()) == 0) return;
  } else {
    file_ = std::fopen(path_.c_str(), "wb");
    if (file_ != nullptr) return;
  }
  auto const problem = errno;
  if (file_ != nullptr) std::fclose(file_);
  throw program_error{exit_code::failed, fmt::format("--record: cannot write '{}': {}", path_,
                                                     std::strerror(problem))};
}

recording_file::~recording_file() {
  if (file_ != nullptr) std::fclose(file_);
}

void recording_file::write(std::string_view bytes) {
  if (file_ == nullptr) return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
}

bool recording_file::finish() {
  if (file_ != nullptr && std::fflush(file_) != 0) fail();
  if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0) fail();
  return !has_failed_;
}

void recording_file::fail() {
  spdlog::error("the recording in '{}' is not whole: {}", path_, std::strerror(errno));
  has_failed_ = true;
  if (file_ != nullptr) std::fclose(std::exchange(file_, nullptr));
}

void keep_recording(std::string const& recording) {
  auto const directory = recordings_directory();
  auto const path = (directory / fmt::format("coxswain-{:%Y%m%dT%H%M%S}-{}.recording",
                                             fmt::localtime(std::time(nullptr)), ::getpid()))
                        .string();
  try {
    recording_file file{path};
    file.write(recording);
    if (!file.finish()) return;
    remove_oldest(directory);
    spdlog::warn("what led to this is in '{0}'; look at it with: coxswain replay {0}", path);
  } catch (program_error const& problem) {
    spdlog::warn("{}", problem.what());
  }
}

}  // namespace coxswain::tools
