#pragma once
// The file to which a coordinator's recording is written while it runs. Only its owner may read it:
// it contains messages of tasks.

#include "coxswain/base/status.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace coxswain::server {

// It has its own buffer: a forked child must not write the content of the C library's.
class recording_file {
 public:
  // Called once if something cannot be written.
  using on_failure = std::function<void(status const&)>;

  // A file of this name is replaced; a pipe or a device is written to. Throws coxswain::error:
  // UNAVAILABLE, it cannot be created.
  explicit recording_file(std::string path, on_failure failed = {});

  ~recording_file();
  recording_file(recording_file const&) = delete;
  recording_file& operator=(recording_file const&) = delete;

  // On the server's thread. The first failure ends the recording.
  void write(std::string_view bytes);

  // Closes the file. UNAVAILABLE: not everything was written, and why.
  [[nodiscard]] status finish();

 private:
  void flush();
  void close() noexcept;

  std::string path_;
  on_failure failed_;
  std::mutex mutex_;
  std::string buffer_;
  int descriptor_{-1};  // -1: it is finished, or has failed
  status outcome_;
};

}  // namespace coxswain::server
