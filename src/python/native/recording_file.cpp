#include "python/native/recording_file.hpp"

#include "coxswain/base/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

namespace coxswain::python {
namespace {

constexpr std::size_t buffered_bytes_max = 64 * 1024;

status cannot(std::string const& what, std::string const& path, int problem) {
  return {errc::unavailable, what + " '" + path + "': " + std::generic_category().message(problem)};
}

}  // namespace

recording_file::recording_file(std::string path) : path_{std::move(path)} {
  // A file that others may read stays theirs; a pipe or a device is written to.
  std::error_code unknown;
  if (std::filesystem::is_regular_file(path_, unknown)) std::filesystem::remove(path_, unknown);
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor_ < 0) throw error{cannot("cannot write the recording", path_, errno)};
}

recording_file::~recording_file() { close(); }

void recording_file::write(std::string_view bytes) {
  std::lock_guard const lock{mutex_};
  if (descriptor_ < 0) return;
  buffer_.append(bytes);
  if (buffer_.size() >= buffered_bytes_max) flush();
}

status recording_file::finish() {
  std::lock_guard const lock{mutex_};
  flush();
  close();
  if (problem_ == 0) return {};
  return cannot("not all was written to the recording", path_, problem_);
}

void recording_file::flush() {
  for (std::string_view rest{buffer_}; descriptor_ >= 0 && !rest.empty();) {
    auto const written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      problem_ = errno;
      close();
    }
  }
  buffer_.clear();
}

void recording_file::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace coxswain::python
