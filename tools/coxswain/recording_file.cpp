#include "recording_file.hpp"

#include "exit_code.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace coxswain::tools {
namespace {

// A new file beside `path` that only its owner may read; its name replaces the pattern.
std::FILE* make_beside(std::string& path) {
  path += ".XXXXXX";
  int const descriptor = ::mkstemp(path.data());
  return descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
}

}  // namespace

recording_file::recording_file(std::string path) : path_{std::move(path)} {
  auto beside = path_;
  file_.reset(make_beside(beside));
  if (file_ && std::rename(beside.c_str(), path_.c_str()) == 0) return;
  throw program_error{exit_code::failed,
                      fmt::format("--record: cannot write '{}': {}", path_, std::strerror(errno))};
}

void recording_file::write(std::string_view bytes) {
  if (!file_ || std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size()) return;
  spdlog::error("the recording in '{}' ends here: {}", path_, std::strerror(errno));
  file_.reset();
}

void keep_recording(std::string const& recording) {
  std::error_code no_directory;
  auto const directory = std::filesystem::temp_directory_path(no_directory);
  auto const path = (directory / fmt::format("coxswain-{}.recording", ::getpid())).string();
  try {
    recording_file{path}.write(recording);
    spdlog::warn("what led to this is in '{0}'; look at it with: coxswain replay {0}", path);
  } catch (program_error const& problem) {
    spdlog::warn("{}", problem.what());
  }
}

}  // namespace coxswain::tools
