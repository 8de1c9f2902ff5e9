#pragma once
// The options of a coordinator that a command line offers, shared by the subcommands that hold one.

#include "options/exit_code.hpp"
#include "options/subcommand.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/server/recording/recording_file.hpp"
#include "coxswain/status/options.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace coxswain::tools {

struct coordinator_options {
  coordinator_options();  // the limits fit this machine

  server::options server;
  status_page::options page;
  bool has_page{};
  std::string record_file;
  std::shared_ptr<server::recording_file> recording;  // of that name, once completed
  std::string token_file;
  std::string port_file;
  bool is_kept_private{};       // a listener without a host, because nothing guards it
  subcommand const* command{};  // knows which values come from a file

  void replace_credentials(std::vector<core::credential> const& by) {
    server.core.credentials = page.credentials = by;
  }
};

// -n, --num-tasks. Zero: not given.
CLI::Option* add_num_tasks(CLI::App& to, coordinator_options& into);

// --job, --attempt, --token-file, --listen, --insecure, --port-file, --recoverable; `into.command`.
void add_identity_options(subcommand& to, coordinator_options& into);

// Adds --listen and --insecure. `shown_default` describes the default address.
void add_listeners(CLI::App& to, server::options& into, std::string const& shown_default);

// Timing and limits, each group under a heading of its own.
void add_timing_options(CLI::App& to, coordinator_options& into);
void add_limit_options(CLI::App& to, coordinator_options& into);
// --journal and what belongs to it.
void add_journal_options(CLI::App& to, coordinator_options& into);
void add_recording_options(CLI::App& to, coordinator_options& into);
void add_http_options(CLI::App& to, coordinator_options& into);

// How unmodified JAX programs are served: --xla-listen and what belongs to it.
void add_xla_options(CLI::App& to, coordinator_options& into);

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
