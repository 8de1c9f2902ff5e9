#pragma once
// A subcommand's conversation with a coordinator that runs already: which one, as whom, and what
// its errors end the program with. It takes part as an observer, which is no task.

#include "command_line.hpp"

#include "coxswain/client/client.hpp"

#include <functional>
#include <string>

namespace coxswain::tools {

// Where `serve` listens and the other subcommands connect to when nobody says.
inline constexpr auto address_default = "127.0.0.1:8476";

struct remote_options {
  std::string address{address_default};
  std::string job;
  std::string token_file;
  duration connect_timeout{5s};
};

// --address, --job, --token-file and --connect-timeout, and the variables of all options so far.
void add_remote_options(CLI::App& to, remote_options& into);

using conversation = std::function<asio::awaitable<void>(client&)>;

// Connects, talks and ends the session. SIGINT and SIGTERM take back what is open and give 128 +
// their number. Throws program_error.
int converse(remote_options const& with, conversation talk);

}  // namespace coxswain::tools
