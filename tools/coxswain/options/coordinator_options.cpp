#include "options/coordinator_options.hpp"

#include "commands/version.hpp"
#include "options/option_rows.hpp"
#include "options/token.hpp"
#include "process/keep_recording.hpp"

#include "coxswain/server/option_rows.hpp"
#include "coxswain/status/option_rows.hpp"

#include <spdlog/spdlog.h>

#include <memory>
#include <string_view>
#include <tuple>

namespace coxswain::tools {
namespace {

// The heading of a group in --help; none: that of the options around it.
char const* title_of(option_group group) {
  switch (group) {
    case option_group::tls: return "TLS";
    case option_group::timing: return "Timing";
    case option_group::spares: return "Processes without a number";
    case option_group::elastic: return "Elastic jobs";
    case option_group::limits: return "Limits";
    case option_group::journal: return "Journal";
    case option_group::recording: return "Recording";
    case option_group::page: return "Status page";
    case option_group::xla: return "JAX and torch programs";
    default: return nullptr;
  }
}

// A port without a host is on this machine only, if nothing protects it.
void keep_private(coordinator_options& given) {
  auto& server = given.server;
  bool const is_guarded =
      !server.core.credentials.empty() || !server.tls.ca.empty() || server.insecure;
  for (auto& address : server.listen) {
    if (is_guarded || !address.starts_with(':')) continue;
    address.insert(0, "127.0.0.1");
    given.is_kept_private = true;
  }
}

// A page without a host has that of the first listener with one; beside Unix sockets only, this
// machine.
void place_page(coordinator_options& given) {
  auto& page = given.page.listen;
  bool const is_port = !page.empty() && page.find_first_not_of("0123456789") == std::string::npos;
  if (!is_port && !page.starts_with(':')) return;
  std::string host = "127.0.0.1";
  for (auto const& address : given.server.listen) {
    if (address.starts_with("unix:")) continue;
    host = address.starts_with("fd:") ? "" : address.substr(0, address.rfind(':'));
    break;
  }
  page = host + (is_port ? ":" : "") + page;
}

}  // namespace

coordinator_options::coordinator_options() {
  server.core.version = version;
  page.listen.clear();
}

CLI::Option* add_num_tasks(CLI::App& to, coordinator_options& into) {
  auto& num_tasks = into.server.core.num_tasks;
  num_tasks = 0;
  add(to, "-n,--num-tasks", {.least = 1, .most = core::tasks_max}, num_tasks,
      "The job's number of tasks");
  return to.get_option("--num-tasks");
}

void add_options(CLI::App& to, coordinator_options& into,
                 std::initializer_list<option_group> groups) {
  for (auto const group : groups) {
    auto const* const title = title_of(group);
    if (title != nullptr) to.option_defaults()->group(title);
    if (group == option_group::recording) {
      to.add_option("--record", into.record_file,
                    "Write all inputs of the coordinator to this file, for coxswain replay")
          ->type_name("FILE");
    }
    server::each_option([&](auto const& row, auto part) {
      if (row.group == group) add_row(to, row, part(into.server));
    });
    auto const add_of_page = [&](auto const& row) {
      if (row.group == group) add_row(to, row, into.page);
    };
    std::apply([&](auto const&... row) { (add_of_page(row), ...); }, status_page::option_rows);
    if (group == option_group::elastic) {
      to.get_option("--min-tasks")->each([&into](std::string const&) {
        into.server.core.elastic = true;
      });
      // An epoch does not wait for the next process of a lost member.
      to.get_option("--come-back")->excludes("--elastic")->excludes("--min-tasks");
    }
    if (title != nullptr) to.option_defaults()->group("Options");
  }
}

void add_identity_options(subcommand& to, coordinator_options& into) {
  into.command = &to;
  add_options(to, into, {option_group::listeners, option_group::job});
  add_credentials_file(to, into.token_file);
  to.add_option("--port-file", into.port_file,
                "Write the addresses to this file once they accept connections, one per line")
      ->type_name("FILE");
  add_options(to, into, {option_group::tls});
}

void add_job_options(CLI::App& to, coordinator_options& into) {
  add_options(to, into,
              {option_group::timing, option_group::spares, option_group::elastic,
               option_group::limits, option_group::xla});
}

void complete(coordinator_options& given) {
  given.server.core.credentials = read_credentials(given.token_file);
  keep_private(given);
  if (given.has_page()) {
    place_page(given);
    given.page.credentials = given.server.core.credentials;
    given.page.insecure = given.server.insecure;
    given.page.tls = given.server.tls;
    // Visitors of the page take no descriptors from the tasks.
    given.server.descriptors_reserved =
        given.page.connections_max + given.page.probe_connections_max + 8;
  }
  if (given.record_file.empty()) return;
  try {
    given.recording = std::make_shared<server::recording_file>(given.record_file, &log_failure);
  } catch (error const& problem) {
    throw program_error{exit_code::failed, "--record: " + problem.outcome().message()};
  }
  given.server.record = [file = given.recording](std::string_view bytes) { file->write(bytes); };
}

void report_privacy(coordinator_options const& given) {
  if (auto const why = exposure_of(given.token_file); !why.empty()) spdlog::warn(why);
  if (!given.is_kept_private) return;
  spdlog::warn(
      "only this machine can connect: a listener without a host needs a token or client "
      "certificates; see --token-file, --tls-ca and --insecure");
}

void finish(coordinator_options& given) {
  if (given.recording) static_cast<void>(given.recording->finish());  // the outcome is logged
}

program_error cannot_start(error const& problem) {
  if (problem.code() != errc::failed_precondition) {
    return {exit_code_of(problem.outcome().code()), problem.what()};
  }
  return {exit_code::usage,
          std::string{problem.outcome().message()} +
              "\nFor a token: (umask 077; openssl rand -hex 16 > token), and then "
              "--token-file token;\nor else see --tls-ca, --listen and --insecure"};
}

}  // namespace coxswain::tools
