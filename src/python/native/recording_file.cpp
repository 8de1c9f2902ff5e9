#include "python/native/recording_file.hpp"

#include "coxswain/base/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace coxswain::python {
namespace {

status cannot(std::string const& what, std::string const& path, int problem) {
  return {errc::unavailable, what + " '" + path + "': " + std::generic_category().message(problem)};
}

}  // namespace

recording_file::recording_file(std::string path) : path_{std::move(path)} {
  // A file that others may read stays theirs; a pipe or a device is written to.
  std::error_code unknown;
  if (std::filesystem::is_regular_file(path_, unknown)) std::filesystem::remove(path_, unknown);
  int const descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor >= 0) file_.reset(::fdopen(descriptor, "wb"));
  if (!file_) throw error{cannot("cannot write the recording", path_, errno)};
}

void recording_file::write(std::string_view bytes) noexcept {
  std::lock_guard const lock{mutex_};
  if (file_ && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail();
}

status recording_file::finish() {
  std::lock_guard const lock{mutex_};
  if (file_ && std::fflush(file_.get()) != 0) fail();
  file_.reset();
  if (problem_ == 0) return {};
  return cannot("not all was written to the recording", path_, problem_);
}

void recording_file::fail() noexcept {
  problem_ = errno;
  file_.reset();
}

}  // namespace coxswain::python
