#include "process/host_relay.hpp"

#include "child/child_process.hpp"
#include "options/tls.hpp"
#include "process/user_directory.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

// FNV-1a: the same for all versions of the program.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (char const one : text) hash = (hash ^ static_cast<unsigned char>(one)) * 0x100'0000'01b3;
  return hash;
}

// The files of a relay, and the directory that contains them.
struct relay_files {
  std::string socket;
  std::string ports;
  net::descriptor directory;
};

std::optional<relay_files> files_for(client_options const& to) {
  for (auto const& directory : runtime_directories()) {
    auto opened = open_private(directory, if_missing::make);
    if (!opened) continue;
    auto const name = fmt::format("relay-{:016x}", hash_of(to.job + '\n' + to.address));
    auto socket = (directory / name).string();
    if (socket.size() >= sizeof(sockaddr_un::sun_path)) continue;
    auto ports = (directory / ("ports-of-" + name)).string();
    return relay_files{std::move(socket), std::move(ports), *std::move(opened)};
  }
  return std::nullopt;
}

std::vector<std::string> lines_of(std::string const& path) {
  std::vector<std::string> all;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) all.push_back(line);
  return all;
}

std::vector<std::string> environment_with(client_options const& to) {
  auto added = tls_variables(to.tls);
  added.emplace_back("COXSWAIN_TOKEN", to.token);
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    // Its other options are its own.
    if (!std::string_view{*one}.starts_with("COXSWAIN_")) all.emplace_back(*one);
  }
  for (auto const& [name, value] : added) {
    if (!value.empty()) all.push_back(name + '=' + value);
  }
  return all;
}

// Starts it in a session of its own; its standard output is `out`. Zero, or an errno.
int spawn(std::vector<std::string> arguments, std::vector<std::string> environment, int out,
          pid_t& child) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  int const problem = ::posix_spawn(&child, "/proc/self/exe", &files, &how,
                                    pointers_to(arguments).data(), pointers_to(environment).data());
  ::posix_spawnattr_destroy(&how);
  ::posix_spawn_file_actions_destroy(&files);
  return problem;
}

}  // namespace

std::vector<std::string> start_host_relay(client_options const& to) {
  auto const files = files_for(to);
  if (!files) {
    spdlog::warn("no directory for the socket of a relay: going on without");
    return {};
  }
  auto const address = "unix:" + files->socket;
  std::vector<std::string> arguments{
      "coxswain",     "relay",       "--upstream",         to.address,    "--listen",
      address,        "--port-file", files->ports,         "--log-level", "error",
      "--until-idle", "30s",         "--tcp-store-listen", "127.0.0.1:0"};
  if (!to.job.empty()) arguments.insert(arguments.end(), {"--job", to.job});
  // Another one that starts it has its addresses in the file before it is over here.
  ::flock(files->directory.value(), LOCK_EX);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  net::descriptor const from{ends[0]};
  net::descriptor out{ends[1]};
  pid_t child{};
  int const problem = spawn(std::move(arguments), environment_with(to), out.value(), child);
  out.close();
  if (problem != 0) {
    spdlog::warn("cannot start a relay: {}", std::strerror(problem));
    return {};
  }
  // It says that it is ready, or ends because another one is.
  char first{};
  if (::read(from.value(), &first, 1) <= 0) ::waitpid(child, nullptr, 0);
  auto addresses = lines_of(files->ports);
  if (addresses.empty()) addresses = {address};
  return addresses;
}

}  // namespace coxswain::tools
