#pragma once
// A directory for sockets and files, which vanishes with everything in it.

#include "bench_error.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace coxswain::bench {

class temporary_directory {
 public:
  // Throws bench_error.
  explicit temporary_directory(std::string const& parent = "/tmp")
      : path_{parent + "/coxswain-bench-XXXXXX"} {
    if (::mkdtemp(path_.data()) == nullptr) throw system_failure("cannot make " + path_);
  }
  ~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_directory(temporary_directory const&) = delete;
  temporary_directory& operator=(temporary_directory const&) = delete;

  [[nodiscard]] std::string const& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace coxswain::bench
