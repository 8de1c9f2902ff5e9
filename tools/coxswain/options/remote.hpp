#pragma once
// A subcommand's conversation with a running coordinator: its address and credentials, and the exit
// codes of errors. It is an observer, or acts for the task of the `coxswain task` under which it
// was started.

#include "options/command_line.hpp"

#include "coxswain/client/client.hpp"

#include <functional>
#include <memory>
#include <string>

namespace coxswain::tools {

// The default address of `serve` and of the other subcommands, without a launcher.
inline constexpr auto address_default = "127.0.0.1:8476";

struct remote_options {
  std::string address{};  // empty: as the launcher says, or that of a job of this user
  std::string job{};
  std::string token_file{};
  tls_options tls{};
  duration connect_timeout{5s};
  CLI::Option const* gives_connect_timeout{};
  std::string token{};  // of the job that was found; a file or variable wins
  bool takes_newest{};  // of several jobs, because it changes nothing
  std::string
      command{};  // what others see beside the name of its user; empty: only host and process
};

// --address, --job, --token-file, --tls-... and --connect-timeout, and names the variables of all
// options so far.
void add_remote_options(subcommand& to, remote_options& into);

// The same with an address. If neither the options nor a launcher have one, it is that of the job
// of this user that runs on this machine (job_registry), or the default. If there are several, the
// newest one is used, with a note on standard error. Throws program_error if the command changes
// something. An address of such a job brings its token, wherever the address comes from.
[[nodiscard]] remote_options located(remote_options with);

using conversation = std::function<asio::awaitable<void>(client&)>;

// Gets the signals that end programs. False: it has no use for this one.
using signal_handler = std::function<bool(int)>;

// Locates a coordinator and connects as an observer, talks and ends the session. The signals that
// end programs and are not handled cancel open calls and give 128 + their number. Throws
// program_error.
int converse(remote_options const& with, conversation talk, signal_handler handle = {});

[[nodiscard]] bool is_inside_task();

// The default time limit for reaching the coordinator through `coxswain task`.
inline constexpr duration admission_max{5s};

// The same as the task that this process was started for. Throws program_error (usage): there is
// none.
int act(conversation talk, duration connect_timeout = admission_max, signal_handler handle = {});

// For calls that wait for others: acts below `coxswain task`, so that the task is known to wait,
// and converses elsewhere, or if `with` has the address of another coordinator.
int take_part(remote_options const& with, conversation talk, signal_handler handle = {});

// A subcommand that is a conversation and stores its arguments: with the coordinator of
// `given.remote`, or else on behalf of the task.
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

// The rest is for other kinds of sessions. Throws program_error.
[[nodiscard]] client_options observer(remote_options const& with);
asio::awaitable<client> connect(client_options options);

// Prints what the client waits for on standard error, after this name.
[[nodiscard]] std::function<void(client_event const&)> say_waits(std::string name);

// Time limit for the end of a session.
inline constexpr duration session_end_max = 1s;

}  // namespace coxswain::tools
