#include "process/machine.hpp"

#include "options/exit_code.hpp"

#include "coxswain/net/socket.hpp"

#include <fmt/format.h>
#include <boost/asio/ip/host_name.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

namespace coxswain::tools {
namespace {

// What to write beside, and rename, to replace the file of this name: where its links lead. Nothing
// if there is something else, which can only be written to: a pipe, a device.
std::optional<std::string> replaceable(std::string const& path) {
  std::error_code unknown;  // opening the file reports the error
  auto const there = std::filesystem::status(path, unknown);
  using kind = std::filesystem::file_type;
  if (there.type() == kind::not_found || there.type() == kind::none) return path;
  if (there.type() != kind::regular) return std::nullopt;
  auto const file = std::filesystem::canonical(path, unknown);
  return unknown ? path : file.string();
}

}  // namespace

rlimit raise_descriptor_limit() {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  auto raised = before;
  raised.rlim_cur = raised.rlim_max;
  // A failure leaves the limit as it was: the caller shows what it is.
  ::setrlimit(RLIMIT_NOFILE, &raised);
  return before;
}

bool has_terminal() {
  int const terminal = ::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal >= 0) ::close(terminal);
  return terminal >= 0;
}

void write_lines_atomically(std::string const& path, std::vector<std::string> const& lines) {
  auto const file_name = replaceable(path);
  auto const beside = file_name ? fmt::format("{}.{}.tmp", *file_name, ::getpid()) : path;
  std::ofstream file{beside, std::ios::trunc};
  for (auto const& line : lines) file << line << '\n';
  file.close();
  if (file && (!file_name || std::rename(beside.c_str(), file_name->c_str()) == 0)) return;
  auto const problem = errno;
  if (file_name) std::remove(beside.c_str());
  throw program_error{exit_code::failed,
                      fmt::format("cannot write '{}': {}", path, std::strerror(problem))};
}

std::string read_file(std::string const& path, std::string const& option) {
  auto const unreadable = [&](int why) {
    return program_error{exit_code::usage,
                         fmt::format("{}: cannot read '{}': {}", option, path, std::strerror(why))};
  };
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) throw unreadable(EISDIR);
  std::ifstream file{path, std::ios::binary};
  std::string content{std::istreambuf_iterator<char>{file}, {}};
  if (!file) throw unreadable(errno);
  return content;
}

bool is_of_this_machine(net::socket_address const& address) {
  sockaddr_storage any_port{};
  std::memcpy(&any_port, address.data(), address.size());
  if (address.family() == AF_INET) reinterpret_cast<sockaddr_in&>(any_port).sin_port = 0;
  if (address.family() == AF_INET6) reinterpret_cast<sockaddr_in6&>(any_port).sin6_port = 0;
  net::socket const probe{::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
  auto const* const to = reinterpret_cast<sockaddr const*>(&any_port);
  return ::bind(probe.value(), to, address.size()) == 0 || errno != EADDRNOTAVAIL;
}

std::string user_at_host() {
  auto const* const user = ::getpwuid(::geteuid());
  auto const name =
      user != nullptr ? std::string{user->pw_name} : fmt::format("user {}", ::geteuid());
  return name + "@" + boost::asio::ip::host_name();
}

std::string with_host_name(std::string const& listener) {
  auto const parsed = net::endpoint::parse(listener).value();
  if (parsed.host() != "0.0.0.0" && parsed.host() != "::") return listener;
  return fmt::format("{}:{}", boost::asio::ip::host_name(), parsed.port());
}

}  // namespace coxswain::tools
