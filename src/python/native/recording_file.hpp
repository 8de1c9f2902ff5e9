#pragma once
// The file into which a coordinator's recording is written while it runs. Only its owner may read
// it.

#include "coxswain/base/status.hpp"

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace coxswain::python {

class recording_file {
 public:
  // A file of this name is replaced. Throws coxswain::error: UNAVAILABLE, it cannot be made.
  explicit recording_file(std::string path);

  // On the server's thread. The first failure ends the recording.
  void write(std::string_view bytes) noexcept;

  // Nothing is written any more. UNAVAILABLE: not all of it was, and why.
  [[nodiscard]] status finish();

 private:
  void fail() noexcept;

  struct closing {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  std::string path_;
  std::mutex mutex_;
  std::unique_ptr<std::FILE, closing> file_;  // null: it is finished, or has failed
  int problem_{};                             // errno
};

}  // namespace coxswain::python
