#include "recording_file.hpp"

#include "exit_code.hpp"
#include "machine.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

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
  std::error_code no_directory;
  auto const directory = std::filesystem::temp_directory_path(no_directory);
  auto const path = (directory / fmt::format("coxswain-{}.recording", ::getpid())).string();
  try {
    recording_file file{path};
    file.write(recording);
    if (!file.finish()) return;
    spdlog::warn("what led to this is in '{0}'; look at it with: coxswain replay {0}", path);
  } catch (program_error const& problem) {
    spdlog::warn("{}", problem.what());
  }
}

}  // namespace coxswain::tools
