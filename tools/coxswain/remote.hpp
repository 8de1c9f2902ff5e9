#pragma once
// A subcommand's conversation with a coordinator that runs already: which one, as whom, and what
// its errors end the program with. It takes part as an observer, which is no task, or acts for the
// task of the `coxswain task` below which it was started.

#include "command_line.hpp"

#include "coxswain/client/client.hpp"

#include <functional>
#include <string>

namespace coxswain::tools {

// Where `serve` listens and the other subcommands connect to when nobody says, no launcher either.
inline constexpr auto address_default = "127.0.0.1:8476";

struct remote_options {
  std::string address;  // empty: as the launcher says
  std::string job;
  std::string token_file;
  tls_options tls;
  duration connect_timeout{5s};
};

// --address, --job, --token-file, --tls-... and --connect-timeout, and names the variables of all
// options so far.
void add_remote_options(subcommand& to, remote_options& into);

using conversation = std::function<asio::awaitable<void>(client&)>;

// Connects as an observer, talks and ends the session. SIGINT and SIGTERM take back what is open
// and give 128 + their number. Throws program_error.
int converse(remote_options const& with, conversation talk);

[[nodiscard]] bool is_inside_task();

// How long it may take to reach the coordinator by way of `coxswain task`, if nobody says.
inline constexpr duration admission_max{5s};

// The same as the task that this process was started for. Throws program_error (usage): there is
// none.
int act(conversation talk, duration connect_timeout = admission_max);

// The rest is for those who hold a session of another kind. Throws program_error.
[[nodiscard]] client_options observer(remote_options const& with);
asio::awaitable<client> connect(client_options options);

// How long the end of a session may take once everything is said.
inline constexpr duration farewell_max = 1s;

}  // namespace coxswain::tools
