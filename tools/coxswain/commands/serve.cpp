// coxswain serve: the coordinator as a process of its own.

#include "commands/commands.hpp"
#include "commands/version.hpp"
#include "options/coordinator_options.hpp"
#include "options/engine_options.hpp"
#include "options/exit_code.hpp"
#include "options/launcher.hpp"
#include "options/remote.hpp"
#include "options/token.hpp"
#include "process/jax_environment.hpp"
#include "process/job_registry.hpp"
#include "process/keep_recording.hpp"
#include "process/log.hpp"
#include "process/machine.hpp"
#include "process/reload.hpp"
#include "process/service_manager.hpp"
#include "process/standby_process.hpp"
#include "terminal/error_output.hpp"
#include "text/job_words.hpp"
#include "text/json.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/server/server.hpp"
#include "coxswain/status/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <boost/asio/signal_set.hpp>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

// Time limit for the tasks of a failed job to leave, with --exit-when-done.
constexpr duration failed_job_lingers = 60s;

// The service manager is notified each second that a start goes on; it may miss some.
constexpr duration start_goes_on = 30s;

bool has_left(core::snapshot::task const& t) { return t.state == task_state::left; }

struct serve_command {
  coordinator_options coordinator;
  engine_options engine;
  log_options log;
  bool exit_when_done{};
  bool prints_environment{};
  bool keeps_job{};
};

// A running coordinator, and what ends it: a signal, or with --exit-when-done the end of the job.
class service {
 public:
  service(asio::io_context& io, serve_command& given, log const& to, server::shared_job job = {});

  // Announces it, and serves. Gives the exit code.
  int run();

 private:
  static server::options with_log(serve_command const& given, service& self, log const& to);
  void report_replay(server::journal_progress const& so_far);
  void announce();
  void await_signal();
  void await_question();
  void end_by(int signal);
  void suspend();
  void reload();
  void await_failure();
  asio::awaitable<void> await_end_of_job();
  asio::awaitable<void> serve();
  void end_of_job(std::string const& why);

  asio::io_context& io_;
  serve_command& given_;
  std::shared_ptr<bool> alive_{std::make_shared<bool>(true)};  // for what outlives it
  asio::signal_set signals_;
  asio::signal_set questions_;
  hangup hangup_;
  asio::steady_timer failed_for_long_;
  bool watches_failure_{};
  bool is_stopping_{};
  exit_code code_{exit_code::ok};
  service_manager manager_;
  std::optional<job_registration> registered_;
  server::server coordinator_;
  std::optional<status_page::page> page_;
};

service::service(asio::io_context& io, serve_command& given, log const& to, server::shared_job job)
    : io_{io},
      given_{given},
      signals_{io, SIGINT, SIGTERM},
      questions_{io, SIGUSR1},
      hangup_{io, [this] { reload(); }, [this] { end_by(SIGHUP); }},
      failed_for_long_{io},
      manager_{io},
      coordinator_{io, with_log(given, *this, to), std::move(job)} {
  if (given.coordinator.has_page()) page_.emplace(io, coordinator_, given.coordinator.page);
}

// The server has no operation that completes when the job fails, but every failure is logged.
// The reaction waits until the server's handler has returned.
server::options service::with_log(serve_command const& given, service& self, log const& to) {
  auto options = given.coordinator.server;
  options.owns_process = true;
  options.log = [write = to.sink(), &self](core::event const& e) {
    write(e);
    if (self.registered_) self.registered_->note(e);
    if (e.level != core::severity::error || self.watches_failure_) return;
    asio::post(self.io_, [&self, alive = std::weak_ptr{self.alive_}] {
      if (!alive.expired()) self.await_failure();
    });
  };
  options.journal.progress = [&self](server::journal_progress const& so_far) {
    self.report_replay(so_far);
  };
  return options;
}

void service::report_replay(server::journal_progress const& so_far) {
  auto const what = fmt::format("replaying the journal: {} of {}", size_text(so_far.bytes),
                                size_text(so_far.bytes_in_all));
  spdlog::info(what);
  manager_.starting(what, start_goes_on);
}

int service::run() {
  announce();
  await_signal();
  await_question();
  auto pass_on = [](std::exception_ptr problem) {
    if (problem) std::rethrow_exception(problem);
  };
  if (given_.exit_when_done) asio::co_spawn(io_, await_end_of_job(), pass_on);
  asio::co_spawn(io_, serve(), [this](std::exception_ptr problem) {
    io_.stop();
    if (problem) std::rethrow_exception(problem);
  });
  io_.restart();
  if (given_.engine.is_wanted()) {
    io_.run();  // names are looked up on another thread
  } else {
    coordinator_.run_context();
  }
  spdlog::info("ended");
  return static_cast<int>(code_);
}

asio::awaitable<void> service::serve() {
  co_await coordinator_.run();
  if (page_) co_await page_->finish();
}

std::string quoted_for_shell(std::string_view text) {
  std::string quoted{"'"};
  for (char const c : text) quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return quoted + "'";
}

// As exports for a shell.
void print_environment(server::options const& of, listening const& at) {
  environment_variables all{{"COXSWAIN_ADDRESS", with_host_name(at.own.front())},
                            {"COXSWAIN_JOB", of.core.job},
                            {"COXSWAIN_NUM_TASKS", std::to_string(of.core.num_tasks)}};
  if (auto const jax = jax_address(of, at); !jax.empty()) {
    auto more = jax_address_variables(with_host_name(jax));
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  std::string text;
  for (auto const& [name, value] : all) {
    text += fmt::format("export {}={}\n", name, quoted_for_shell(value));
  }
  write_report(text);
}

// The addresses are unprotected: anyone who knows them can connect.
void service::announce() {
  listening const at{given_.coordinator.server, coordinator_.addresses()};
  auto const& addresses = at.own;
  auto const& core = given_.coordinator.server.core;
  registered_.emplace(described(given_.coordinator.server, addresses.front(),
                                page_ ? page_->url() : std::string{}));
  if (!given_.coordinator.port_file.empty()) {
    write_lines_atomically(given_.coordinator.port_file, addresses);
  }
  json::object ready{
      {"event", "ready"},  {"addresses", json::array(addresses.begin(), addresses.end())},
      {"job", core.job},   {"num_tasks", core.num_tasks},
      {"pid", ::getpid()}, {"version", version},
  };
  if (!at.jax.empty()) ready["xla_addresses"] = json::array(at.jax.begin(), at.jax.end());
  if (page_) {
    ready["http"] = page_->address();
    ready["page"] = page_->url();
  }
  if (given_.prints_environment) {
    print_environment(given_.coordinator.server, at);
  } else {
    print_report("{}\n", serialized(ready));
  }
  auto const what = fmt::format("job '{}' of {} at {}", core.job, counted(core.num_tasks, "task"),
                                fmt::join(addresses, ", "));
  manager_.ready(what);
  spdlog::info(what);
  if (!at.jax.empty()) spdlog::info("JAX programs connect to {}", fmt::join(at.jax, ", "));
  if (page_) spdlog::info("status page at {}", page_->url());
  report_privacy(given_.coordinator);
}

void service::await_signal() {
  signals_.async_wait([this](boost::system::error_code problem, int number) {
    if (problem) return;
    end_by(number);
    await_signal();
  });
}

void service::end_by(int signal) {
  // After a second signal it ends without waiting.
  if (is_stopping_) ::_exit(128 + signal);
  is_stopping_ = true;
  if (given_.keeps_job && signal == SIGTERM) return suspend();
  spdlog::info(
      "signal {}: stopping, and sending the reason to all clients; a second one ends it "
      "immediately",
      signal);
  auto const why = fmt::format("the coordinator was ended by SIG{}", ::sigabbrev_np(signal));
  manager_.stopping(why);
  coordinator_.stop(last_words(coordinator_.state(), why));
}

void service::suspend() {
  spdlog::info("SIGTERM: {}",
               given_.engine.is_wanted()
                   ? "handing the job over to a standby"
                   : "suspending the job until it is started again from its journal");
  manager_.stopping("the job is suspended");
  static_cast<void>(coordinator_.suspend("the coordinator is about to be restarted"));
}

// SIGHUP: what may change while it runs.
void service::reload() {
  auto const tokens =
      tools::reload(given_.coordinator, coordinator_, page_ ? &*page_ : nullptr, *registered_);
  if (tokens) given_.coordinator.replace_credentials(*tokens);
}

// SIGUSR1 requests a recording of the coordinator's latest inputs.
void service::await_question() {
  questions_.async_wait([this](boost::system::error_code problem, int) {
    if (problem) return;
    keep_recording(coordinator_.recording());
    await_question();
  });
}

void service::await_failure() {
  if (watches_failure_ || !coordinator_.error()) return;
  watches_failure_ = true;
  manager_.status("the job has failed: " + coordinator_.error()->cause.why.text());
  if (given_.coordinator.server.record_bytes_max > 0) {
    registered_->note_recording(keep_recording(coordinator_.recording()));
  }
  if (!given_.exit_when_done) return;
  failed_for_long_.expires_after(failed_job_lingers);
  failed_for_long_.async_wait([this](boost::system::error_code problem) {
    if (!problem) end_of_job("the job has failed");
  });
}

asio::awaitable<void> service::await_end_of_job() {
  std::weak_ptr const alive{alive_};
  co_await coordinator_.job_done();
  if (alive.expired()) co_return;
  if (coordinator_.error()) co_return end_of_job("the job has failed");
  // Recoverable tasks fail without failing the job, but if all have failed, the job is not done.
  auto const tasks = coordinator_.look().tasks;
  bool const has_finished =
      coordinator_.is_draining() || std::any_of(tasks.begin(), tasks.end(), has_left);
  if (!has_finished) code_ = exit_code::failed;
  end_of_job(has_finished ? "all tasks have left" : "all tasks have failed");
}

void service::end_of_job(std::string const& why) {
  if (is_stopping_) return;
  is_stopping_ = true;
  if (coordinator_.error()) code_ = exit_code::failed;
  spdlog::info("{}: ending (--exit-when-done)", why);
  manager_.stopping(why);
  coordinator_.stop(last_words(coordinator_.state(), why));
}

// The launcher's number, unless the command line has one.
void complete_num_tasks(std::uint32_t& num_tasks) {
  if (num_tasks != 0) return;
  auto const given = launched().num_tasks.value();
  if (!given) {
    throw program_error{
        exit_code::usage,
        "--num-tasks is required, such as -n 4: neither COXSWAIN_NUM_TASKS nor a launcher "
        "provides it; see coxswain detect." +
            why_missing(&launch::parameters::num_tasks)};
  }
  num_tasks = *given;
}

// On a context that goes on afterwards: what refers to the service must run before its end.
int lead(asio::io_context& io, serve_command& given, log const& lines, server::shared_job job) {
  service running{io, given, lines, std::move(job)};
  std::exception_ptr lost;
  int code = 0;
  try {
    code = running.run();
  } catch (error const&) {
    lost = std::current_exception();
  }
  io.restart();
  io.poll();
  if (lost) std::rethrow_exception(lost);
  return code;
}

int serve(serve_command& given, bool listens_as_given) {
  std::signal(SIGPIPE, SIG_IGN);
  complete_num_tasks(given.coordinator.server.core.num_tasks);
  if (auto inherited = inherited_listeners(); !listens_as_given && !inherited.empty()) {
    given.coordinator.server.listen = std::move(inherited);
  }
  complete(given.coordinator);
  raise_descriptor_limit();
  log const lines{given.log, "%Y-%m-%dT%H:%M:%S.%e%z %l: %v"};
  asio::io_context io{1};
  complete(given.engine, given.coordinator.server.insecure);
  if (given.engine.is_wanted()) {
    given.keeps_job = true;
    return stand_by(io, given.coordinator, given.engine,
                    [&](server::shared_job job) { return lead(io, given, lines, std::move(job)); });
  }
  std::optional<service> running;
  try {
    running.emplace(io, given, lines);
  } catch (error const& problem) {
    throw cannot_start(problem);
  }
  auto const code = running->run();
  running.reset();
  finish(given.coordinator);
  return code;
}

constexpr auto serve_footer =
    R"(Once it accepts connections it writes one line of JSON to standard output
  {"event":"ready","addresses":["127.0.0.1:8476"],"job":"default",...}
and the --port-file. The log goes to standard error.

SIGUSR1 writes the latest inputs of the coordinator to a file for coxswain replay; so does a failure
of the job.

With --journal a coordinator that is killed and started again with the same options continues its
job: sessions resume, calls that were open go on, and no call takes effect twice. Its clients wait
for it (--restart-within). When the job is over, its files are moved to a directory ended-... there,
and the next start begins a new job. The journal contains values and secrets of sessions, but no
tokens: only its owner may read it. On a full disk nothing more is stored, and tasks can still
leave; when it cannot be written at all, the coordinator closes all connections and exits with
74. It survives the end of the process, and with --durability disk that of the machine: each
reply then waits for the disk, some milliseconds on many, and the release of a barrier waits
once. A damaged journal is refused with its place; coxswain journal verifies and repairs it.

With --engine several coordinators with the same options, on different machines, share one job. One
leads. The others write {"event":"standby",...}, send their clients to it, and follow its log in
etcd; one of them takes over when it ends, and writes the line above. SIGTERM hands the job over,
SIGINT stops it. Clients need the addresses of all. The page of a standby says who leads, and its
/readyz is 503.

SIGTERM or SIGINT: all clients get the reason, then it exits with 0; a second signal ends it at
once. SIGHUP: reads the --token-file again, and the log level if a --config file sets it. Existing
tasks and sessions continue; new ones need one of the new tokens. If there is an error, nothing
changes and the log reports it. But when its terminal was closed, SIGHUP acts as SIGTERM.

With --exit-when-done it exits with 0 when all tasks have left, and with 1 after a failure of the
job, once the last task is gone or 60 s have passed. A new attempt needs a new coordinator.
Recoverable tasks that have failed count as gone; when all have failed, it exits with 1.

As a systemd service (Type=notify) it reports READY, STATUS and STOPPING, feeds the watchdog from
its event loop, and extends the time-out of its start while it replays a journal. Without --listen
it takes the sockets of a socket unit: then clients wait during a restart instead of being refused.
See tools/deploy for both units.

A listener that other hosts can reach (not loopback, not unix:) needs a token, client certificates,
or --insecure. A port without a host, such as :8476 or 8476, listens on all addresses if there is
one of these, else on this machine only; the same holds for --http.

The --token-file gives each token a role, for example
  worker    7d5c...
  operator  b1f0...
  reader    99ae...
A reader can look: status, get, ls, watch, events. An operator can also change keys and queues, wait
at count barriers, cancel barriers, preempt tasks, and stop or drain the job. A worker can do
everything; a line with a token alone is a worker's. A relay can look, and carry the tasks of its
host (coxswain relay). Empty lines and those that begin with # are ignored.

Unmodified JAX programs connect as they would to the service of their process 0, at --listen if
there are neither tokens nor TLS, else at --xla-listen. A process that reaches such an address can
act for any task. For a plain jax.distributed.initialize() they need the variables that --print-env
prints, and a launcher that JAX knows, coxswain run or coxswain task --jax, for the process number.
Programs of torch connect there as well, as to a TCPStore: with MASTER_ADDR, MASTER_PORT,
TORCHELASTIC_USE_AGENT_STORE=True and TORCHELASTIC_RESTART_COUNT=0 for
torch.distributed.init_process_group().

With --http the job is also served over HTTP; the line on standard output then has its URL as
"page".
  /livez /readyz /healthz      200 or 503; ?verbose lists the checks
  /metrics                     counters and gauges, for Prometheus
  /barrier/NAME                503 with the missing tasks; 200 once passed
  /api/v1/state                the job, as coxswain status --json
  /api/v1/tasks[?state=failed] /api/v1/tasks/3 /api/v1/barriers /api/v1/why
  /api/v1/events[?after=N&severity=warning&last=N]
  /api/v1/keys[?prefix=a/&after=KEY&limit=N&values=1] /api/v1/keys/NAME
  /api/v1/live                 a WebSocket: the job, and then its changes
  POST /api/v1/preempt         {"task": 3, "in": "10m"}
  POST /api/v1/stop            {"reason": "..."}: ends the job now
  POST /api/v1/drain           {"reason": "..."}: nobody may join, and it ends
                               when all have left
It takes the same tokens ('Authorization: Bearer TOKEN'); bodies of POST are application/json.

EXAMPLES
  coxswain serve -n 8
  coxswain serve -n 64 --listen :8476 --token-file token --exit-when-done
  coxswain serve -n 8 --http 8477 & curl -s localhost:8477/api/v1/why
  coxswain serve -n 8 --listen 127.0.0.1:0 --listen unix:/run/job.sock \
      --port-file /run/job.port
  coxswain serve -n 64 --listen :8476 --token-file token --xla-listen :8477 \
      --xla-allow 10.0.0.0/8

)";

}  // namespace

void add_serve(CLI::App& program, action& chosen) {
  auto given = std::make_shared<serve_command>();
  given->coordinator.server.listen = {address_default};
  auto& command = add_subcommand(program, "serve", "Runs the coordinator of one job", chosen,
                                 [given, &program] {
                                   auto const* const app = program.get_subcommand("serve");
                                   return serve(*given, app->get_option("--listen")->count() > 0);
                                 });
  add_num_tasks(command, given->coordinator);
  add_identity_options(command, given->coordinator);
  command.add_flag("--exit-when-done", given->exit_when_done, "End when the job is over");
  add_log_options(command, given->log);
  add_job_options(command, given->coordinator);
  add_options(command, given->coordinator, {option_group::journal});
  command
      .add_flag("--keep", given->keeps_job,
                "With --journal: SIGTERM suspends the job instead of ending it")
      ->needs("--journal")
      ->group("Journal");
  add_engine_options(command, given->engine);
  command.get_option("--engine")->excludes("--journal");
  add_options(command, given->coordinator, {option_group::recording, option_group::page});
  command.name_variables();
  command.add_flag("--print-env", given->prints_environment,
                   "Once ready, print the variables of JAX programs and of ours for a shell, not "
                   "JSON");
  command.add_fallback("--num-tasks", from_launcher(&launch::parameters::num_tasks));
  command.add_fallback("--token-file", token_of_variable, subcommand::rank::above_file);
  command.footer(help_end(serve_footer));
  command.shorten_help({"--num-tasks", "--listen", "--token-file", "--insecure", "--job", "--http",
                        "--port-file", "--exit-when-done", "--recoverable", "--heartbeat-timeout",
                        "--journal", "--engine", "--config"});
}

}  // namespace coxswain::tools
