#include "machine.hpp"

#include "exit_code.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace coxswain::tools {

rlimit raise_descriptor_limit() {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  auto raised = before;
  raised.rlim_cur = raised.rlim_max;
  // A failure leaves the limit as it was: the caller shows what it is.
  ::setrlimit(RLIMIT_NOFILE, &raised);
  return before;
}

std::uint64_t descriptor_limit() {
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  return now.rlim_cur;
}

bool has_terminal() {
  int const terminal = ::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal >= 0) ::close(terminal);
  return terminal >= 0;
}

void write_lines_atomically(std::string const& path, std::vector<std::string> const& lines) {
  auto const beside = fmt::format("{}.{}.tmp", path, ::getpid());
  std::ofstream file{beside, std::ios::trunc};
  for (auto const& line : lines) file << line << '\n';
  file.close();
  if (file && std::rename(beside.c_str(), path.c_str()) == 0) return;
  auto const problem = errno;
  std::remove(beside.c_str());
  throw program_error{exit_code::failed,
                      fmt::format("cannot write '{}': {}", path, std::strerror(problem))};
}

std::string read_file(std::string const& path, std::string const& option) {
  std::ifstream file{path, std::ios::binary};
  std::string content{std::istreambuf_iterator<char>{file}, {}};
  if (!file) {
    throw program_error{exit_code::usage, fmt::format("{}: cannot read '{}': {}", option, path,
                                                      std::strerror(errno))};
  }
  return content;
}

}  // namespace coxswain::tools
