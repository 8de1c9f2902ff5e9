#pragma once
// A subcommand's conversation with a coordinator that runs already: which one, as whom, and what
// its errors end the program with. It takes part as an observer, which is no task, or acts for the
// task of the `coxswain task` below which it was started.

#include "options/command_line.hpp"

#include "coxswain/client/client.hpp"

#include <functional>
#include <memory>
#include <string>

namespace coxswain::tools {

// Where `serve` listens and the other subcommands connect to when nobody says, no launcher either.
inline constexpr auto address_default = "127.0.0.1:8476";

struct remote_options {
  std::string address{};  // empty: as the launcher says, or that of a job of this user
  std::string job{};
  std::string token_file{};
  tls_options tls{};
  duration connect_timeout{5s};
  std::string token{};  // of the job that was found; a file or variable wins
  bool takes_newest{};  // of several jobs, because it changes nothing
};

// --address, --job, --token-file, --tls-... and --connect-timeout, and names the variables of all
// options so far.
void add_remote_options(subcommand& to, remote_options& into);

// The same with an address. If neither the options nor a launcher have one, it is that of the job
// of this user that runs on this machine (job_registry), or the default. If there are several, the
// newest one is taken and standard error says so. Throws program_error: that might do harm.
[[nodiscard]] remote_options located(remote_options with);

using conversation = std::function<asio::awaitable<void>(client&)>;

// Locates a coordinator and connects as an observer, talks and ends the session. SIGINT and SIGTERM
// take back what is open and give 128 + their number. Throws program_error.
int converse(remote_options const& with, conversation talk);

[[nodiscard]] bool is_inside_task();

// How long it may take to reach the coordinator by way of `coxswain task`, if nobody says.
inline constexpr duration admission_max{5s};

// The same as the task that this process was started for. Throws program_error (usage): there is
// none.
int act(conversation talk, duration connect_timeout = admission_max);

// For calls that wait for others: acts below `coxswain task`, so that the task is known to wait,
// and converses elsewhere, or if `with` has the address of another coordinator.
int take_part(remote_options const& with, conversation talk);

// A subcommand that is a conversation and keeps what was given to it: with the coordinator that
// `given.remote` names, or else on behalf of the task.
template <class Given>
subcommand_with<Given>& add_conversation(CLI::App& program, std::string const& name,
                                         std::string const& purpose, action& chosen,
                                         asio::awaitable<void> (*talk)(client&, Given const&)) {
  auto const made = std::make_shared<subcommand_with<Given>>(program, name, purpose);
  add_subcommand(program, made, chosen, [talk, &given = made->given] {
    auto const about = [talk, &given](client& c) { return talk(c, given); };
    if constexpr (requires { given.remote; }) return converse(given.remote, about);
    return act(about);
  });
  return *made;
}

// The rest is for those who hold a session of another kind. Throws program_error.
[[nodiscard]] client_options observer(remote_options const& with);
asio::awaitable<client> connect(client_options options);

// Says on standard error what the client waits for, behind this name.
[[nodiscard]] std::function<void(client_event const&)> say_waits(std::string name);

// How long the end of a session may take once everything is said.
inline constexpr duration farewell_max = 1s;

}  // namespace coxswain::tools
