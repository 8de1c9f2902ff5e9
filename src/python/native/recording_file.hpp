#pragma once
// The file into which a coordinator's recording is written while it runs. Only its owner may read
// it.

#include "coxswain/base/status.hpp"

#include <mutex>
#include <string>
#include <string_view>

namespace coxswain::python {

// Its buffer is its own: a child that was forked must not write what is in the C library's.
class recording_file {
 public:
  // A file of this name is replaced. Throws coxswain::error: UNAVAILABLE, it cannot be made.
  explicit recording_file(std::string path);

  ~recording_file();
  recording_file(recording_file const&) = delete;
  recording_file& operator=(recording_file const&) = delete;

  // On the server's thread. The first failure ends the recording.
  void write(std::string_view bytes);

  // Nothing is written any more. UNAVAILABLE: not all of it was, and why.
  [[nodiscard]] status finish();

 private:
  void flush();
  void close() noexcept;

  std::string path_;
  std::mutex mutex_;
  std::string buffer_;
  int descriptor_{-1};  // -1: it is finished, or has failed
  int problem_{};       // errno
};

}  // namespace coxswain::python
