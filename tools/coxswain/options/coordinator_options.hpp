#pragma once
// The options of a coordinator that a command line offers, shared by the subcommands that hold one.

#include "options/exit_code.hpp"
#include "options/subcommand.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/base/option_row.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/server/recording/recording_file.hpp"
#include "coxswain/status/options.hpp"

#include <CLI/CLI.hpp>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace coxswain::tools {

struct coordinator_options {
  coordinator_options();  // the limits fit this machine

  server::options server;
  status_page::options page;  // without an address there is none
  std::string record_file;
  std::shared_ptr<server::recording_file> recording;  // of that name, once completed
  std::string token_file;
  std::string port_file;
  bool is_kept_private{};       // a listener without a host, because nothing guards it
  subcommand const* command{};  // knows which values come from a file

  [[nodiscard]] bool has_page() const { return !page.listen.empty(); }

  void replace_credentials(std::vector<core::credential> const& by) {
    server.core.credentials = page.credentials = by;
  }
};

// -n, --num-tasks. Zero: not given.
CLI::Option* add_num_tasks(CLI::App& to, coordinator_options& into);

// Those of these groups, each under its heading.
void add_options(CLI::App& to, coordinator_options& into,
                 std::initializer_list<option_group> groups);

// --listen, --job, --token-file, TLS and what belongs to them; `into.command`.
void add_identity_options(subcommand& to, coordinator_options& into);

// How the job runs: timing, spares, epochs, limits and JAX.
void add_job_options(CLI::App& to, coordinator_options& into);

// Reads the tokens, which the status page needs, too, keeps unguarded listeners without a host to
// this machine, and makes the file of the recording. To be called once, before the server is made.
// Throws program_error.
void complete(coordinator_options& given);

// Logs the addresses of a listener without a host.
void report_privacy(coordinator_options const& given);

// After the coordinator's end, before the log's.
void finish(coordinator_options& given);

// An error of server::server's constructor, in terms of the command line.
[[nodiscard]] program_error cannot_start(error const& problem);

}  // namespace coxswain::tools
