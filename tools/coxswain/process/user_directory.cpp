#include "process/user_directory.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

namespace coxswain::tools {
namespace {

namespace fs = std::filesystem;

constexpr mode_t ours_alone = 0700;
constexpr mode_t others = 077;

// An absolute path: the XDG specification has others ignored.
std::optional<fs::path> directory_in(char const* variable) {
  auto const* const value = std::getenv(variable);
  if (value == nullptr || *value != '/') return std::nullopt;
  return fs::path{value};
}

fs::path temporary_directory() {
  std::error_code none;
  auto const found = fs::temp_directory_path(none);
  return none ? fs::path{"/tmp"} : found;
}

}  // namespace

std::vector<fs::path> runtime_directories() {
  std::vector<fs::path> all;
  if (auto const given = directory_in("XDG_RUNTIME_DIR")) all.push_back(*given / "coxswain");
  all.push_back(temporary_directory() / fmt::format("coxswain-{}", ::geteuid()));
  return all;
}

fs::path state_directory(if_missing what) {
  fs::path directory;
  if (auto const given = directory_in("XDG_STATE_HOME")) {
    directory = *given / "coxswain";
  } else if (auto const home = directory_in("HOME")) {
    directory = *home / ".local/state/coxswain";
  }
  if (directory.empty()) return temporary_directory();
  if (what == if_missing::fail) return directory;
  std::error_code problem;
  bool const is_new = fs::create_directories(directory, problem);
  if (is_new) fs::permissions(directory, fs::perms::owner_all, problem);
  bool const is_usable = !problem && ::access(directory.c_str(), W_OK) == 0;
  return is_usable ? directory : temporary_directory();
}

result<net::descriptor> open_private(fs::path const& path, if_missing what) {
  if (what == if_missing::make) ::mkdir(path.c_str(), ours_alone);
  net::descriptor directory{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  struct stat found {};
  if (!directory || ::fstat(directory.value(), &found) != 0) {
    auto const code = errno == ENOENT ? errc::not_found : errc::unavailable;
    return status{code, fmt::format("cannot open '{}': {}", path.string(), std::strerror(errno))};
  }
  if (found.st_uid != ::geteuid() || (found.st_mode & others) != 0) {
    return status{errc::failed_precondition,
                  fmt::format("'{}' must belong to this user and be closed to others (mode 0700)",
                              path.string())};
  }
  return directory;
}

}  // namespace coxswain::tools
