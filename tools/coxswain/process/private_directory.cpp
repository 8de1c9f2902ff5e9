#include "process/private_directory.hpp"

#include "options/exit_code.hpp"
#include "terminal/error_output.hpp"

#include <fmt/format.h>

#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace coxswain::tools {
namespace {

// The longest name of a socket in such a directory, with its slash.
constexpr std::size_t name_bytes_max = 16;

std::string value_of(char const* variable) {
  auto const* const value = std::getenv(variable);
  return value == nullptr ? std::string{} : value;
}

// A new directory in `parent`; else `why` says what is wrong with it.
std::string made_in(std::string const& parent, std::string& why) {
  auto path = parent + "/coxswain-XXXXXX";
  if (path.size() + name_bytes_max >= sizeof(sockaddr_un::sun_path)) {
    why = "its name is too long for a socket in it";
  } else if (::mkdtemp(path.data()) == nullptr) {
    why = std::strerror(errno);
  } else {
    return path;
  }
  return {};
}

}  // namespace

private_directory::private_directory() {
  std::string problems;
  for (auto const& parent :
       {value_of("TMPDIR"), value_of("XDG_RUNTIME_DIR"), std::string{"/tmp"}}) {
    if (parent.empty()) continue;
    std::string why;
    path_ = made_in(parent, why);
    if (!path_.empty()) {
      if (!problems.empty()) {
        print_error("coxswain: cannot use {}; temporary files are in '{}'\n", problems, parent);
      }
      return;
    }
    problems += fmt::format("{}'{}' ({})", problems.empty() ? "" : ", ", parent, why);
  }
  throw program_error{exit_code::failed, "cannot make a temporary directory in " + problems +
                                             "; set TMPDIR to another"};
}

private_directory::~private_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace coxswain::tools
