#pragma once
// The file into which a coordinator's recording is written while it runs. Only its owner may read
// it: it holds what tasks said.

#include "coxswain/base/status.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace coxswain::server {

// Its buffer is its own: a child that was forked must not write what is in the C library's.
class recording_file {
 public:
  // Called once if something cannot be written.
  using on_failure = std::function<void(status const&)>;

  // A file of this name is replaced; a pipe or a device is written to. Throws coxswain::error:
  // UNAVAILABLE, it cannot be made.
  explicit recording_file(std::string path, on_failure failed = {});

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
  on_failure failed_;
  std::mutex mutex_;
  std::string buffer_;
  int descriptor_{-1};  // -1: it is finished, or has failed
  status outcome_;
};

}  // namespace coxswain::server
