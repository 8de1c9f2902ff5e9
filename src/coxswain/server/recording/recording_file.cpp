#include "coxswain/server/recording/recording_file.hpp"

#include "coxswain/base/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

namespace coxswain::server {
namespace {

// The most that is lost when the process is killed.
constexpr std::size_t buffered_bytes_max = 4 * 1024;

status unavailable(std::string const& what, int problem) {
  return {errc::unavailable, what + ": " + std::generic_category().message(problem)};
}

}  // namespace

recording_file::recording_file(std::string path, on_failure failed)
    : path_{std::move(path)}, failed_{std::move(failed)} {
  // An existing file that others can read is replaced by a private one, also behind links.
  std::error_code problem;
  bool const is_file = std::filesystem::is_regular_file(path_, problem);
  problem.clear();  // if it cannot be known, opening says why
  if (is_file) std::filesystem::remove(std::filesystem::canonical(path_, problem), problem);
  int why = problem.value();
  if (why == 0) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    why = errno;
  }
  if (descriptor_ < 0) throw error{unavailable("cannot write '" + path_ + "'", why)};
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
  return outcome_;
}

void recording_file::flush() {
  for (std::string_view rest{buffer_}; descriptor_ >= 0 && !rest.empty();) {
    auto const written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      outcome_ = unavailable("the recording in '" + path_ + "' is not whole", errno);
      close();
      if (failed_) failed_(outcome_);
    }
  }
  buffer_.clear();
}

void recording_file::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace coxswain::server
