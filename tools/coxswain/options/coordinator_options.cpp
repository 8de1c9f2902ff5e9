#include "options/coordinator_options.hpp"

#include "commands/version.hpp"
#include "options/command_line.hpp"
#include "options/tls.hpp"
#include "options/token.hpp"
#include "process/keep_recording.hpp"

#include <spdlog/spdlog.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

namespace coxswain::tools {
namespace {

constexpr std::int64_t tasks_max = 1'000'000;

void add_spare_options(CLI::App& to, core::config& core) {
  to.option_defaults()->group("Processes without a number");
  add_number(to, "--spares", core.spares, 0, tasks_max,
             "How many processes may wait to replace a recoverable task that fails");
  to.add_option_function<std::string>(
        "--assign",
        [&core](std::string const& how) {
          core.assign = how == "order"    ? core::assignment::order
                        : how == "member" ? core::assignment::member
                                          : core::assignment::placement;
        },
        "How they get numbers at the start: in the order in which they ask, or sorted by member "
        "name or placement")
      ->type_name("HOW")
      ->check(one_of({"order", "member", "placement"}))
      ->default_str("member");
  add_duration(to, "--last-call", core.last_call,
               "At the start, wait this long for spares once there are enough for all tasks");
  add_duration(to, "--come-back", core.come_back,
               "Keep the number of a failed task this long for its own next process; 0: give it "
               "to a spare at once. Not for elastic jobs");
}

void add_elastic_options(CLI::App& to, core::config& core) {
  to.option_defaults()->group("Elastic jobs");
  to.add_flag("--elastic", core.elastic,
              "The number of tasks changes from epoch to epoch, up to --num-tasks");
  to.add_option_function<std::uint32_t>(
        "--min-tasks", [&core](std::uint32_t n) { core.min_tasks = n; },
        "The least number of tasks of an epoch; implies --elastic")
      ->type_name("N")
      ->each([&core](std::string const&) { core.elastic = true; })
      ->check(CLI::Range(std::int64_t{1}, tasks_max))
      ->default_str("1");
  to.add_option_function<std::string>(
        "--grow",
        [&core](std::string const& when) {
          core.grow = when == "boundary" ? core::growth::boundary
                      : when == "now"    ? core::growth::now
                                         : core::growth::never;
        },
        "When processes that wait join: when all members call next_epoch, at once, or never")
      ->type_name("WHEN")
      ->check(one_of({"boundary", "now", "never"}))
      ->default_str("boundary");
  to.add_option_function<std::string>(
        "--ranks",
        [&core](std::string const& how) {
          core.ranks = how == "keep" ? core::rank_order::keep : core::rank_order::member;
        },
        "Whether members keep their numbers, or all are sorted by member name")
      ->type_name("HOW")
      ->check(one_of({"keep", "member"}))
      ->default_str("keep");
  add_duration(to, "--epoch-timeout", core.epoch_timeout,
               "Fail a member that has not called next_epoch this long after the first one; 0: "
               "never");
  add_duration(to, "--min-wait", core.min_wait,
               "Fail the job after this long with fewer than --min-tasks");
  to.add_option("--max-epochs", core.epochs_max,
                "Fail the job instead of beginning more epochs; 0: without limit")
      ->type_name("N")
      ->capture_default_str();
  // An epoch does not wait for the next process of a lost member.
  to.get_option("--come-back")->excludes("--elastic")->excludes("--min-tasks");
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

coordinator_options::coordinator_options() { server.core.version = version; }

CLI::Option* add_num_tasks(CLI::App& to, coordinator_options& into) {
  auto& core = into.server.core;
  core.num_tasks = 0;
  return add_number(
      to, "-n,--num-tasks",
      [&core](std::int64_t n) { core.num_tasks = static_cast<std::uint32_t>(n); }, 1, tasks_max,
      "The job's number of tasks");
}

void add_listeners(CLI::App& to, server::options& into, std::string const& shown_default) {
  to.add_option("--listen", into.listen,
                "Where to listen: host:port (port 0: any), [v6]:port, unix:/path, fd://N (an "
                "inherited socket), or :port: all addresses if a token or client certificates "
                "protect it, else this machine only. Repeatable; the variable separates them by "
                "commas")
      ->type_name("ADDRESS")
      ->delimiter(',')
      ->check(listener_check())
      ->allow_extra_args(false)
      ->default_str(shown_default);
  to.add_flag("--insecure", into.insecure,
              "Allow listening on reachable addresses without a token");
}

void add_identity_options(subcommand& to, coordinator_options& into) {
  auto& core = into.server.core;
  into.command = &to;
  add_listeners(to, into.server, into.server.listen.front());
  to.add_option("--job", core.job, "The job's name, which its tasks must state")
      ->type_name("NAME")
      ->capture_default_str();
  add_number(to, "--attempt", core.attempt, 0,
             "The launcher's restart count; refuse tasks of an older attempt");
  add_credentials_file(to, into.token_file);
  add_tls_listener_options(to, into.server.tls);
  to.add_option("--port-file", into.port_file,
                "Write the addresses to this file once they accept connections, one per line")
      ->type_name("FILE");
  to.add_flag(
      "--recoverable", core.recoverable,
      "Tasks are recoverable unless they state otherwise: when one fails, the job continues "
      "and the task can join again");
}

void add_timing_options(CLI::App& to, coordinator_options& into) {
  to.option_defaults()->group("Timing");
  auto& core = into.server.core;
  add_duration(to, "--heartbeat-timeout", core.heartbeat_timeout,
               "Fail a task after this long without a heartbeat", {.least = 10ms});
  add_duration(to, "--reconnect-grace", core.reconnect_grace,
               "Grace period before the tasks of a lost connection fail; 0: none");
  add_duration(to, "--relay-grace", core.relay_grace,
               "Grace period before the tasks of a lost relay fail; 0: none");
  add_duration(to, "--coordinator-return", core.coordinator_return,
               "Clients give up an address that refuses connections for this long; 0: after "
               "--heartbeat-timeout");
  add_duration(to, "--hello-timeout", core.hello_timeout,
               "Close a new connection that sends no Hello for this long", {.least = 1ms});
  add_duration(to, "--stalled-reader-timeout", core.stalled_reader_timeout,
               "Close a connection whose peer reads nothing for this long", {.least = 1ms});
  add_duration(to, "--progress-timeout", core.progress_timeout,
               "Warn when a task's step has not advanced for this long, not counting time spent "
               "waiting for others; 0: off");
  to.add_flag("--fail-without-progress", core.fail_without_progress,
              "Fail such a task instead of only warning");
  add_duration(to, "--preemption-lead", core.preemption_lead,
               "Agree on a step to stop at this long before a task is preempted");
  add_duration(to, "--preemption-timeout", core.preemption_timeout, "Time limit of that agreement",
               {.least = 1ms});
  add_duration(to, "--goodbye-timeout", into.server.linger,
               "Time limit for sending the reason of a stop to all clients");
  add_duration(to, "--spin", into.server.spin,
               "Poll for input this long after each message before sleeping: replies leave some "
               "microseconds earlier, at the price of a core; at most 1s, 0: off");
  to.add_flag_callback(
      "--no-join-barrier", [&core] { core.join_barrier = false; },
      "Connect each task at once, without waiting for the others");
  add_duration(to, "--join-timeout-max", core.join_timeout_max,
               "Cap how long a joining task waits for the others",
               {.least = 1ms, .may_be_forever = true});
  to.add_flag_callback(
      "--no-leave-barrier", [&core] { core.leave_barrier = false; },
      "Let each task leave alone, without waiting for the others");
  add_duration(to, "--leave-timeout-max", core.leave_timeout_max,
               "Cap how long a leaving task waits for the others; 0: it leaves alone",
               {.may_be_forever = true});
  to.add_flag("--leave-together", core.leave_together,
              "Make tasks leave together even if all of them are recoverable");
  add_duration(to, "--return-timeout", core.return_timeout,
               "Fail a task that left to return and has not joined after this long",
               {.least = 1ms, .may_be_forever = true});
  add_spare_options(to, core);
  add_elastic_options(to, core);
  to.option_defaults()->group("Options");
}

void add_limit_options(CLI::App& to, coordinator_options& into) {
  to.option_defaults()->group("Limits");
  auto& core = into.server.core;
  add_size(to, "--memory-max", core.memory_bytes_max,
           "Memory for stored data (three quarters) and messages in transit; the default is half "
           "of what machine, control group and ulimit -v allow");
  add_size(to, "--value-bytes-max", core.value_bytes_max,
           "Size of the largest value; at most a fifth of --memory-max");
  add_size(to, "--key-bytes-max", core.key_bytes_max, "Length of the longest key");
  add_size(to, "--gather-bytes-max", core.gather_bytes_max,
           "Data of all tasks of one barrier together");
  add_number(to, "--changes-max", core.changes_max, 0, 1'000'000'000,
             "Number of key changes kept for watches");
  add_size(to, "--change-bytes-max", core.change_bytes_max,
           "Size of the key changes kept for watches");
  add_size(to, "--queued-bytes-max", into.server.queued_bytes_max,
           "Replies queued for one session before reading from it pauses");
  add_number(to, "--open-requests-max", core.open_requests_max, 1, 1'000'000'000,
             "Number of open requests of a session");
  add_number(to, "--open-requests-max-per-task", core.open_requests_max_per_task, 0, 1'000'000,
             "Additional open requests of a session for each of its tasks");
  add_number(
      to, "--connections-max",
      [&into](std::int64_t n) { into.server.connections_max = static_cast<std::size_t>(n); }, 1,
      100'000'000, "Number of connections (default: the limit of open files, ulimit -n, less 64)");
  add_number(
      to, "--strangers-per-host-max",
      [&into](std::int64_t n) { into.server.strangers_per_host_max = static_cast<std::size_t>(n); },
      1, 100'000'000,
      "Number of connections of one host before Hello; above it the oldest silent one is "
      "closed (default: half of all)");
  add_number(to, "--handshakes-per-second-max", into.server.handshakes_per_second_max, 1, 1'000'000,
             "Number of TLS handshakes per second and host; the rest wait");
  to.option_defaults()->group("Options");
}

void add_journal_options(CLI::App& to, coordinator_options& into) {
  to.option_defaults()->group("Journal");
  auto& journal = into.server.journal;
  to.add_option("--journal", journal.directory,
                "Write all inputs to a journal in this directory before anything is answered; "
                "started again, the coordinator continues the job, and its clients resume")
      ->type_name("DIR");
  to.add_option_function<std::string>(
        "--durability",
        [&journal](std::string const& level) {
          journal.level = level == "disk" ? server::durability::disk : server::durability::process;
        },
        "What the journal survives: the end of the process, or that of the machine, for which each "
        "reply waits until the disk has it")
      ->type_name("LEVEL")
      ->check(one_of({"process", "disk"}))
      ->default_str("process");
  add_size(to, "--journal-max", journal.bytes_max,
           "Refuse to store more while the journal's files are larger; 0: no limit", 0);
  add_duration(to, "--restart-grace", journal.restart_grace,
               "Fail tasks that have not resumed this long after a restart; clients suspect a "
               "silent connection after a third of it",
               {.least = 1s});
  add_duration(to, "--restart-within", journal.restart_within,
               "Clients wait this long for a restart, instead of --coordinator-return");
  to.option_defaults()->group("Options");
}

void add_recording_options(CLI::App& to, coordinator_options& into) {
  to.option_defaults()->group("Recording");
  to.add_option("--record", into.record_file,
                "Write all inputs of the coordinator to this file, for coxswain replay")
      ->type_name("FILE");
  add_size(to, "--record-bytes-max", into.server.record_bytes_max,
           "Size of the recording kept in memory and written when the job fails; 0: none", 0);
  to.option_defaults()->group("Options");
}

void add_http_options(CLI::App& to, coordinator_options& into) {
  to.option_defaults()->group("Status page");
  to.add_option_function<std::string>(
        "--http",
        [&into](std::string const& address) {
          into.has_page = true;
          into.page.listen = address;
        },
        "Show the job over HTTP, for people, probes and scripts: port, :port, host:port or "
        "[v6]:port (port 0: any); without a host, that of the first --listen")
      ->type_name("ADDRESS");
  add_number(
      to, "--http-connections-max",
      [&into](std::int64_t n) { into.page.connections_max = static_cast<std::size_t>(n); }, 1,
      1'000'000, "Number of connections of the page (default: 256)");
  to.option_defaults()->group("Options");
}

void add_xla_options(CLI::App& to, coordinator_options& into) {
  to.option_defaults()->group("JAX and torch programs");
  auto& xla = into.server.xla;
  to.add_option("--xla-listen", xla.listen,
                "Where else to serve unmodified JAX and torch programs, which cannot send a token: "
                "unix:/path, for this user only (JAX), or host:port with --tls-ca, --xla-allow or "
                "--xla-insecure. "
                "Repeatable; the variable separates them by commas. Without tokens and TLS the "
                "addresses of --listen serve them, too")
      ->type_name("ADDRESS")
      ->delimiter(',')
      ->check(listener_check())
      ->allow_extra_args(false);
  to.add_option("--xla-allow", xla.allow,
                "Hosts that may connect to these TCP addresses, such as 10.0.0.0/8,fd00::/8,::1")
      ->type_name("CIDR")
      ->delimiter(',')
      ->allow_extra_args(false);
  to.add_flag("--xla-insecure", xla.insecure,
              "Allow TCP addresses there that neither client certificates nor --xla-allow protect");
  to.add_flag("--xla-strict", xla.strict,
              "Behave like XLA's own service where its tests require what our rules forbid");
  add_duration(
      to, "--xla-reconnect-grace", into.server.core.xla_reconnect_grace,
      "Grace period before the task of a JAX program whose connection was closed fails, at "
      "most --reconnect-grace; 0: none");
  add_duration(to, "--xla-alive-timeout", xla.alive_timeout,
               "Time limit of GetAliveTasks, which has none of its own",
               {.least = 1ms, .may_be_forever = true});
  to.option_defaults()->group("Options");
}

void complete(coordinator_options& given) {
  given.server.core.credentials = read_credentials(given.token_file);
  keep_private(given);
  if (given.has_page) {
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
  std::string const text{problem.what()};
  if (problem.code() != errc::failed_precondition) {
    return {exit_code_of(problem.outcome().code()), text};
  }
  return {exit_code::usage, text + " See --token-file, --tls-ca, --listen and --insecure."};
}

}  // namespace coxswain::tools
