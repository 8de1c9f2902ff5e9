#pragma once
// A new private directory below TMPDIR, removed with this object. Where TMPDIR cannot be used,
// below XDG_RUNTIME_DIR or /tmp, with a warning. Sockets in it may have names of up to 15 bytes.

#include <string>

namespace coxswain::tools {

class private_directory {
 public:
  // Throws program_error.
  private_directory();
  // With the files in it.
  ~private_directory();
  private_directory(private_directory const&) = delete;
  private_directory& operator=(private_directory const&) = delete;

  [[nodiscard]] std::string const& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace coxswain::tools
