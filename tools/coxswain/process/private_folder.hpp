#pragma once
// A new folder below the temporary directory that only we may enter. It goes with this object.

#include <string>

namespace coxswain::tools {

class private_folder {
 public:
  // Throws program_error.
  private_folder();
  // With the files in it.
  ~private_folder();
  private_folder(private_folder const&) = delete;
  private_folder& operator=(private_folder const&) = delete;

  [[nodiscard]] std::string const& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace coxswain::tools
