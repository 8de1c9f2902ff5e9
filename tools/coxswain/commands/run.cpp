// coxswain run: a whole job on this machine.

#include "commands/commands.hpp"
#include "options/coordinator_options.hpp"
#include "options/exit_code.hpp"
#include "options/token.hpp"
#include "options/units.hpp"
#include "process/jax_environment.hpp"
#include "process/job_registry.hpp"
#include "process/keep_recording.hpp"
#include "process/local_job.hpp"
#include "process/log.hpp"
#include "process/machine.hpp"
#include "process/private_directory.hpp"
#include "process/reload.hpp"
#include "terminal/error_output.hpp"
#include "terminal/harmless_text.hpp"
#include "text/job_summary.hpp"
#include "text/job_words.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/server/entropy.hpp"
#include "coxswain/status/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <boost/asio/signal_set.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace coxswain::tools {
namespace {

constexpr duration state_period = 30s;

struct run_command {
  coordinator_options coordinator;
  local_job_options job;
  log_options log{.level = "warning"};
  duration linger{};  // after a failure
  bool has_relay{};
};

// The job, and the signals that end it.
class local_run {
 public:
  local_run(asio::io_context& io, run_command const& given, log const& lines)
      : signals_{io, SIGINT, SIGTERM, SIGQUIT},
        hangup_{io, [this] { reload(); }, [this] { end_by(SIGHUP); }},
        given_{given.coordinator},
        linger_{given.linger},
        lines_{lines},
        logs_json_{given.log.format == "json"},
        keeps_recording_{given.job.server.record_bytes_max > 0},
        linger_over_{io},
        state_due_{io},
        job_{io, with_log(given)} {
    await_signal();
    auto const& coordinator = given.coordinator;
    if (coordinator.has_page()) page_.emplace(io, job_.coordinator(), coordinator.page);
  }

  asio::awaitable<void> run() {
    report_state();
    co_await job_.run();
    state_due_.cancel();
    bool const has_failed = tools::exit_code_of(job_) != 0 && !signal_;
    if (job_.coordinator().error() && keeps_recording_ && !job_.was_interrupted()) {
      registered_->note_recording(keep_recording(job_.coordinator().recording()));
    }
    if (has_failed && linger_ > duration{}) co_await stay();
    hangup_.clear();
    signals_.clear();  // restores the default actions
    co_await job_.stop(last_words(job_.coordinator().state(), "all processes have ended"));
    if (page_) co_await page_->finish();
    if (!is_reported_) report_outcome();
  }

  local_job& job() { return job_; }

  // From now on other commands can find the job.
  void announce() {
    auto const addresses = listening{given_.server, job_.coordinator().addresses()}.own;
    auto const& core = given_.server.core;
    registered_.emplace(
        described(given_.server, addresses.front(), page_ ? page_->url() : std::string{}));
    if (!given_.port_file.empty()) write_lines_atomically(given_.port_file, addresses);
    bool const is_fixed = !core.elastic || core.min_tasks == core.num_tasks;
    auto const least = is_fixed ? std::string{} : fmt::format("{} to ", core.min_tasks);
    report(fmt::format("job '{}' of {}{} at {}; watch it with: coxswain top", core.job, least,
                       counted(core.num_tasks, "task"), fmt::join(addresses, ", ")));
    if (page_) report("status page at " + page_->url());
    if (page_ && given_.page.anyone_may_look && !logs_json_) {
      report(fmt::format("to cancel, preempt or stop it there, open {}#token={}", page_->url(),
                         core::worker_token(core.credentials)));
    }
    report_privacy(given_);
  }

  // The exit code: a signal that came when all was over only ends what lingers.
  int code() { return signal_ ? 128 + *signal_ : exit_code_of(job_); }

 private:
  // Not a warning, but visible where warnings are. Programs that read JSON find it in the log.
  void report(std::string const& text) const {
    if (logs_json_) return spdlog::info(text);
    if (!spdlog::should_log(spdlog::level::warn)) return;
    print_error("coxswain run: {}\n", harmless_line(text));
  }

  // Messages of the coordinator after an interrupt are expected, so they are not logged.
  local_job_options with_log(run_command const& given) {
    auto options = given.job;
    options.server.log = [this, write = options.server.log](core::event const& e) {
      if (registered_) registered_->note(e);
      if (!signal_) write(e);
      if (is_lingering_ && is_stop_on_request(e)) linger_over_.cancel();
    };
    return options;
  }

  // How the job is, now and then while it does not run as it should.
  void report_state() {
    state_due_.expires_after(state_period);
    state_due_.async_wait([this](boost::system::error_code problem) {
      if (problem) return;
      auto const state = job_.coordinator().state();
      if (state.what != core::job_state::kind::running) report(state.headline);
      report_state();
    });
  }

  void report_outcome() {
    is_reported_ = true;
    auto const text = job_.was_interrupted() ? fmt::format("coxswain run: interrupted by SIG{}\n",
                                                           ::sigabbrev_np(signal_.value_or(0)))
                                             : failure_text(job_, "coxswain run: ");
    lines_.drain();  // the cause comes last
    write_error(text);
  }

  // So that users can find out why it has failed.
  asio::awaitable<void> stay() {
    report_outcome();
    auto const how_long = linger_ == without_limit ? std::string{} : " or for " + text_of(linger_);
    auto const at = page_ ? page_->url() : job_.coordinator().addresses().front();
    report(
        fmt::format("the failed job can be inspected until Ctrl-C{} (--linger): {}", how_long, at));
    is_lingering_ = true;
    linger_over_.expires_at(deadline_after(std::chrono::steady_clock::now(), linger_));
    boost::system::error_code ignored;
    co_await linger_over_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }

  void await_signal() {
    signals_.async_wait([this](boost::system::error_code problem, int number) {
      if (problem) return;
      end_by(number);
      await_signal();
    });
  }

  void end_by(int signal) {
    // A shell and the kernel both send it when a terminal is closed.
    if (signal == SIGHUP && signal_) return;
    if (is_lingering_) {
      linger_over_.cancel();
      return;
    }
    signal_ = signal;
    job_.interrupt(fmt::format("coxswain run was interrupted by SIG{}", ::sigabbrev_np(signal)));
  }

  void reload() {
    tools::reload(given_, job_.coordinator(), page_ ? &*page_ : nullptr, *registered_);
  }

  asio::signal_set signals_;
  hangup hangup_;
  coordinator_options const& given_;
  std::optional<int> signal_;
  duration linger_;
  log const& lines_;
  bool logs_json_;
  bool keeps_recording_;
  bool is_reported_{};
  bool is_lingering_{};
  asio::steady_timer linger_over_;
  std::optional<job_registration> registered_;
  asio::steady_timer state_due_;
  local_job job_;
  std::optional<status_page::page> page_;
};

void need_worker_token(coordinator_options const& given) {
  auto const& all = given.server.core.credentials;
  auto const is_worker = [](core::credential const& one) { return one.as == core::role::worker; };
  if (all.empty() || std::any_of(all.begin(), all.end(), is_worker)) return;
  throw program_error{exit_code::usage,
                      fmt::format("--token-file: '{}' contains no token of role worker, which the "
                                  "processes of the job need",
                                  given.token_file)};
}

// Other users of this machine can connect to a loopback listener: they need a token, which only
// this user's processes find. Viewing the page needs none.
void guard(coordinator_options& given) {
  auto& server = given.server;
  bool const is_guarded = !server.core.credentials.empty() || !server.tls.ca.empty();
  if (is_guarded || server.insecure) return;
  auto const secret = server::draw_secret();
  server.core.credentials = {
      {core::role::worker,
       core::hexadecimal({reinterpret_cast<char const*>(secret.data()), secret.size()})}};
  given.page.credentials = server.core.credentials;
  given.page.anyone_may_look = true;
}

// Unmodified JAX programs support neither the token nor TLS: they get a socket that only this user
// can connect to. It lives as long as what this returns; none is needed where --listen or
// --xla-listen serves them.
std::unique_ptr<private_directory> add_jax_socket(server::options& to) {
  if (serves_jax(to)) return nullptr;
  std::unique_ptr<private_directory> made;
  try {
    made = std::make_unique<private_directory>();
  } catch (program_error const& problem) {
    spdlog::warn("unmodified JAX programs cannot take part: {}", problem.what());
    return nullptr;
  }
  to.xla.listen.push_back("unix:" + made->path() + "/jax");
  return made;
}

// Nor do torch's TCPStore clients, which only use TCP.
void add_tcp_store_listener(server::options& to) {
  auto const is_tcp = [](std::string const& one) { return !one.starts_with("unix:"); };
  bool const is_open = to.core.credentials.empty() && to.tls.cert.empty();
  bool const has_one = (is_open && std::any_of(to.listen.begin(), to.listen.end(), is_tcp)) ||
                       std::any_of(to.xla.listen.begin(), to.xla.listen.end(), is_tcp);
  if (!has_one) to.tcp_store_listen.push_back("127.0.0.1:0");
}

int run(run_command& given, std::vector<std::string> command) {
  if (command.empty()) {
    throw program_error{exit_code::usage, "no command given: coxswain run -n 4 -- CMD..."};
  }
  std::signal(SIGPIPE, SIG_IGN);
  complete(given.coordinator);
  need_worker_token(given.coordinator);
  guard(given.coordinator);
  given.job.descriptors = raise_descriptor_limit();
  log const lines{given.log, "coxswain run: %l: %v"};
  given.job.command = std::move(command);
  given.job.server = given.coordinator.server;
  given.job.spares = given.job.server.core.spares;
  given.job.server.log = lines.sink();
  auto const jax_socket =
      given.job.server.core.elastic ? nullptr : add_jax_socket(given.job.server);
  if (!given.has_relay) add_tcp_store_listener(given.job.server);
  std::optional<private_directory> relay_directory;
  if (given.has_relay) given.job.relay = "unix:" + relay_directory.emplace().path() + "/relay";

  asio::io_context io{1};
  std::optional<local_run> all;
  try {
    all.emplace(io, given, lines);
  } catch (error const& problem) {
    throw cannot_start(problem);
  }
  all->announce();
  std::exception_ptr problem;
  asio::co_spawn(io, all->run(), [&](std::exception_ptr p) {
    problem = std::move(p);
    io.stop();
  });
  io.run();
  auto const code = problem ? 0 : all->code();
  all.reset();
  finish(given.coordinator);
  if (problem) std::rethrow_exception(problem);
  return code;
}

constexpr auto run_footer = R"(The environment of each process has
  COXSWAIN_ADDRESS, COXSWAIN_TASK_ID, COXSWAIN_NUM_TASKS, COXSWAIN_JOB,
  COXSWAIN_TOKEN (and COXSWAIN_ATTEMPT if there is one),
  JAXOPERATOR_COORDINATOR_ADDRESS, JAXOPERATOR_COORDINATOR_HOST,
  JAXOPERATOR_NUM_PROCESSES and JAXOPERATOR_PROCESS_ID;
and, for a plain jax.distributed.initialize() of an unmodified JAX program,
  JAX_COORDINATOR_ADDRESS (a Unix socket for this user only if there is a
  token; the relay's with --relay, unless there is --xla-strict),
  JAX_COORDINATOR_BIND_ADDRESS, SLURM_NTASKS, SLURM_PROCID and
  SLURM_LOCALID, with SLURM_JOB_ID and SLURM_STEP_NODELIST unless they are set.
and, for a plain torch.distributed.init_process_group() of an unmodified program (env://),
  MASTER_ADDR and MASTER_PORT (the coordinator, or with --relay the relay,
  which speak the protocol of torch's TCPStore; a port for this user only if
  there is a token or a relay),
  TORCHELASTIC_USE_AGENT_STORE=True, with which process 0 starts no store of
  its own, TORCHELASTIC_RESTART_COUNT=0, RANK, WORLD_SIZE and LOCAL_RANK;
  those that are set already stay.
  A program that chooses another address by itself (tcp://) needs it unset:
  set MASTER_ADDR before this.
Each JAX process then uses the GPU with its number; JAX_LOCAL_DEVICE_IDS overrides that.

The output of each process is passed on in whole lines, each after its task's number in brackets.
What cannot be written, as on a full disk or when its reader has gone, is dropped with a warning,
and the job goes on. Its standard input is empty.

A process that exits with 0 has finished its task, whether or not it has left the job: barriers that
need it fail from then on. When a process exits with an error, all others learn at once which one
and how. Those that still run after --failure-grace get SIGTERM, and SIGKILL after --kill-grace.
SIGINT, SIGQUIT and SIGTERM do the same to all processes; a second signal kills them at once. SIGHUP
reads the --token-file again, as for coxswain serve; when its terminal was closed, SIGHUP acts as
SIGTERM. A recoverable task (--recoverable, or as its program states when it joins) that had joined
ends alone: the others are not notified, and continue.

The processes end with this one, so it has no --journal; see coxswain serve and coxswain task for
that. If this one is killed, they are killed, and all that they have started; only a process that
leaves the process group of its task (setsid) survives. Ctrl-Z (SIGTSTP) stops the processes and
then this one; tasks whose heartbeats are missed meanwhile can be declared lost.

With --spares further processes of the command run, without a number: COXSWAIN_MEMBER is set instead
of COXSWAIN_TASK_ID. A Coxswain client from the environment, and coxswain task, then wait for the
number of a recoverable task that fails; they get it at once, unless --max-restarts or --come-back
keep it for the next process of the task. They end when the job does.

With --min-tasks, or --elastic, the number of tasks changes between that and -n. COXSWAIN_MEMBER is
set instead of COXSWAIN_TASK_ID: m0, m1, ... When a process dies the others go on in the next epoch,
and a new one joins them, up to --max-restarts times each. coxswain resize N lets go those with the
highest numbers at the next epoch, or starts others, up to -n. The job has failed when fewer than
--min-tasks processes are left; it has finished when all that are left have.

EXAMPLES
  coxswain run -n 4 --min-tasks 2 --max-restarts 3 -- coxswain task -- sh tools/examples/elastic.sh
  coxswain run -n 8 --recoverable --spares 2 -- coxswain task -- ./train
  coxswain run -n 8 -- coxswain-example-worker --rounds 1000
  coxswain run -n 4 --port-file job.port -- sh -c 'echo I am $COXSWAIN_TASK_ID'

With --http the job is also served over HTTP while it runs, see coxswain serve --help; the URL is on
standard error. On a terminal the page of a failed job remains until Ctrl-C, unless --linger is
given. status, top, why and events find the job without an --address, see coxswain jobs.

Without a --token-file, COXSWAIN_TOKEN, --tls-ca or --insecure the job has a random token for this
run: its processes get it, your other commands on this machine find it, and other users cannot join.
Its page can be viewed without the token; actions there need it.

The events before a failure are recorded in $XDG_STATE_HOME/coxswain, or in
~/.local/state/coxswain, for coxswain replay; the newest 20 recordings are kept.
An interrupt (Ctrl-C) is not a failure, and leaves no recording. What the other processes write to
standard error after one has failed goes into a file beside it, or only into those of --log-dir, so
that the cause stays visible; with --spares all of it is printed.

Options can be set by variables too (--kill-grace is COXSWAIN_KILL_GRACE) and in a --config file;
see coxswain --help.

EXIT CODES
  That of the task that failed, 128 + the number of the signal that killed it;
  126 or 127 if the command cannot be run or found; 128 + the number of a
  signal to coxswain run itself; 0 on success; 1 if the job failed although
  no process did; 64 wrong usage, 69 cannot listen
)";

}  // namespace

void add_run(CLI::App& program, action& chosen) {
  auto given = std::make_shared<run_command>();
  auto& command = add_subcommand(
      program, "run", "Runs a job of N processes on this machine", chosen, [given, &program] {
        auto const* const app = program.get_subcommand("run");
        bool const is_given = app->get_option("--linger")->count() > 0;
        // Without restarts nobody comes back.
        auto& core = given->coordinator.server.core;
        bool const keeps_numbers = given->job.restarts_max > 0;
        if (!keeps_numbers && app->get_option("--come-back")->count() == 0) core.come_back = 0s;
        bool const is_watched = given->coordinator.has_page() && ::isatty(STDERR_FILENO) == 1;
        if (!is_given && is_watched) given->linger = without_limit;
        return run(*given, command_in(*app));
      });
  // Options end where the command begins.
  command.prefix_command();
  add_num_tasks(command, given->coordinator)->required();
  add_identity_options(command, given->coordinator);
  add_number(command, "--max-restarts", given->job.restarts_max, 0, 1'000'000,
             "Start the process of a recoverable task that fails again, or one of an elastic job, "
             "so many times each; it waits 1 s before, doubled each time, up to 10 s");
  command
      .add_option("--log-dir", given->job.log_directory,
                  "Also append the output of each process to a file in this directory: 3.log, "
                  "spare-0.log")
      ->type_name("DIR");
  add_timeout(command, "--failure-grace", given->job.failure_grace,
              "Time for other tasks to end by themselves after a failure");
  add_timeout(command, "--kill-grace", given->job.kill_grace, "Time from SIGTERM to SIGKILL");
  add_timeout(command, "--linger", given->linger,
              "Keep the coordinator and its page for this long after a failure, or until Ctrl-C")
      ->default_str("forever on a terminal with --http, else 0");
  command.add_flag("--relay", given->has_relay,
                   "Let the processes reach the coordinator through a relay, as on many hosts");
  add_log_options(command, given->log);
  add_job_options(command, given->coordinator);
  add_options(command, given->coordinator, {option_group::recording, option_group::page});
  command.name_variables();
  command.add_fallback("--token-file", token_of_variable, subcommand::rank::above_file);
  command.footer(run_footer);
  command.shorten_help({"--num-tasks", "--http", "--job", "--log-dir", "--recoverable",
                        "--max-restarts", "--spares", "--linger", "--heartbeat-timeout",
                        "--token-file", "--listen", "--config"});
}

}  // namespace coxswain::tools
