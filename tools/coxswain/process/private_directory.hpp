#pragma once
// A new private directory below the temporary directory, removed with this object.

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
