#include "process/private_directory.hpp"

#include "options/exit_code.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace coxswain::tools {
namespace {

std::string temporary_directory() {
  auto const* const variable = std::getenv("TMPDIR");
  return variable == nullptr || *variable == '\0' ? "/tmp" : variable;
}

}  // namespace

private_directory::private_directory() : path_{temporary_directory() + "/coxswain-XXXXXX"} {
  if (::mkdtemp(path_.data()) != nullptr) return;
  throw program_error{exit_code::failed, fmt::format("cannot make a directory in '{}' (TMPDIR): {}",
                                                     temporary_directory(), std::strerror(errno))};
}

private_directory::~private_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace coxswain::tools
