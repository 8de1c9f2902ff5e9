// coxswain run: a whole job on this machine.

#include "commands.hpp"
#include "coordinator_options.hpp"
#include "exit_code.hpp"
#include "job_summary.hpp"
#include "local_job.hpp"
#include "log.hpp"
#include "machine.hpp"
#include "recording_file.hpp"
#include "reload.hpp"
#include "token.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/status/page.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <boost/asio/signal_set.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace coxswain::tools {
namespace {

struct run_command {
  coordinator_options coordinator;
  local_job_options job;
  log_options log{.level = "warning"};
};

// The job, and the signals that end it.
class local_run {
 public:
  local_run(asio::io_context& io, run_command const& given)
      : signals_{io, SIGINT, SIGTERM},
        hangup_{io, [this] { reload(); }, [this] { end_by(SIGHUP); }},
        given_{given.coordinator},
        keeps_recording_{given.job.server.record_bytes_max > 0},
        job_{io, given.job} {
    await_signal();
    auto const& coordinator = given.coordinator;
    if (coordinator.has_page) page_.emplace(io, job_.coordinator(), coordinator.page);
  }

  asio::awaitable<void> run() {
    co_await job_.run();
    hangup_.clear();
    signals_.clear();  // from here on they do what they always do
    if (job_.coordinator().error() && keeps_recording_) {
      keep_recording(job_.coordinator().recording());
    }
    co_await job_.stop("all processes have ended");
    std::fputs(failure_text(job_, "coxswain run: ").c_str(), stderr);
  }

  local_job& job() { return job_; }
  std::optional<status_page::page> const& page() const { return page_; }
  int code() { return signal_ ? 128 + *signal_ : exit_code_of(job_); }

 private:
  void await_signal() {
    signals_.async_wait([this](boost::system::error_code problem, int number) {
      if (problem) return;
      end_by(number);
      await_signal();
    });
  }

  void end_by(int signal) {
    signal_ = signal;
    job_.interrupt();
  }

  void reload() { tools::reload(given_, job_.coordinator(), page_ ? &*page_ : nullptr); }

  asio::signal_set signals_;
  hangup hangup_;
  coordinator_options const& given_;
  std::optional<int> signal_;
  bool keeps_recording_;
  local_job job_;
  std::optional<status_page::page> page_;
};

void need_worker_token(coordinator_options const& given) {
  auto const& all = given.server.core.credentials;
  auto const is_worker = [](core::credential const& one) { return one.as == core::role::worker; };
  if (all.empty() || std::any_of(all.begin(), all.end(), is_worker)) return;
  throw program_error{exit_code::usage,
                      fmt::format("--token-file: '{}' holds no worker's token, which the processes "
                                  "of the job need",
                                  given.token_file)};
}

int run(run_command& given, std::vector<std::string> command) {
  if (command.empty()) {
    throw program_error{exit_code::usage, "a command is needed: coxswain run -n 4 -- CMD..."};
  }
  std::signal(SIGPIPE, SIG_IGN);
  complete(given.coordinator);
  need_worker_token(given.coordinator);
  given.job.descriptors = raise_descriptor_limit();
  log const lines{given.log, "coxswain run: %l: %v"};
  given.job.command = std::move(command);
  given.job.server = given.coordinator.server;
  given.job.server.log = lines.sink();

  asio::io_context io{1};
  std::optional<local_run> all;
  try {
    all.emplace(io, given);
  } catch (error const& problem) {
    throw cannot_start(problem);
  }
  auto const& addresses = all->job().coordinator().addresses();
  if (!given.coordinator.port_file.empty()) {
    write_lines_atomically(given.coordinator.port_file, addresses);
  }
  spdlog::info("coordinator at {}; up to {} open files", fmt::join(addresses, ", "),
               descriptor_limit());
  if (auto const& page = all->page()) {
    fmt::print(stderr, "coxswain run: status page at http://{}/\n", page->address());
  }
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

constexpr auto run_footer = R"(Each process finds in its environment
  COXSWAIN_ADDRESS, COXSWAIN_TASK_ID, COXSWAIN_NUM_TASKS, COXSWAIN_JOB (and COXSWAIN_ATTEMPT and
  COXSWAIN_TOKEN if there are any), JAX_COORDINATOR_ADDRESS, JAXOPERATOR_COORDINATOR_ADDRESS,
  JAXOPERATOR_COORDINATOR_HOST, JAXOPERATOR_NUM_PROCESSES and JAXOPERATOR_PROCESS_ID.
What it prints is passed on in whole lines that begin with "[its task] "; its input is empty.

When a process ends badly, all others learn at once which one and how. Those that still run after
--failure-grace get SIGTERM, and SIGKILL after --kill-grace. SIGINT and SIGTERM do the same to all
of them; a second one kills them at once. SIGHUP has the --token-file read again, as coxswain
serve does, unless it says that the terminal was closed: then it is as SIGTERM. A recoverable task
(--recoverable, or as its program says when it joins) that had joined ends alone: the others are
not told, and go on.

EXAMPLES
  coxswain run -n 8 -- coxswain-example-worker --rounds 1000
  coxswain run -n 4 --port-file job.port -- sh -c 'echo I am $COXSWAIN_TASK_ID'

With --http the job can be looked at over HTTP while it runs, see coxswain serve --help; where is
said on standard error.

Options are variables too, --kill-grace is COXSWAIN_KILL_GRACE, and keys of a --config file, which
coxswain --help describes.

EXIT CODES
  That of the task that failed, 128 + the number of the signal that killed it; 126 or 127 if the
  command cannot be run or found; 128 + the number of a signal to coxswain run itself; 0 if all
  went well; 1 if the job failed though no process did; 64 wrong usage, 69 cannot listen
)";

}  // namespace

void add_run(CLI::App& program, action& chosen) {
  auto given = std::make_shared<run_command>();
  auto& command = add_subcommand(program, "run", "Runs a job of N processes on this machine",
                                 chosen, [given, &program] {
                                   auto const* const app = program.get_subcommand("run");
                                   return run(*given, command_in(app->remaining()));
                                 });
  // Options end where the command begins.
  command.prefix_command();
  add_num_tasks(command, given->coordinator)->required();
  add_identity_options(command, given->coordinator);
  add_duration(command, "--failure-grace", given->job.failure_grace,
               "When a task failed: how long the others may take to end by themselves",
               {.may_be_forever = true});
  add_duration(command, "--kill-grace", given->job.kill_grace,
               "How long after SIGTERM a process is killed", {.may_be_forever = true});
  add_log_options(command, given->log);
  add_timing_options(command, given->coordinator);
  add_limit_options(command, given->coordinator);
  add_recording_options(command, given->coordinator);
  add_http_options(command, given->coordinator);
  command.name_variables();
  command.add_fallback("--token-file", token_of_variable, subcommand::rank::above_file);
  command.footer(run_footer);
}

}  // namespace coxswain::tools
