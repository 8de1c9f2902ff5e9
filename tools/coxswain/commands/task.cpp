// coxswain task: a command that is one task of a job.

#include "commands/commands.hpp"
#include "options/coordinator_options.hpp"
#include "options/exit_code.hpp"
#include "options/launcher.hpp"
#include "options/remote.hpp"
#include "process/host_relay.hpp"
#include "process/log.hpp"
#include "process/machine.hpp"
#include "process/private_directory.hpp"
#include "process/task_host.hpp"
#include "process/task_run.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/host/hosted_coordinator.hpp"
#include "coxswain/net/endpoint.hpp"

#include <fmt/format.h>
#include <boost/asio/bind_cancellation_slot.hpp>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace coxswain::tools {
namespace {

struct task_command {
  remote_options remote;
  std::optional<task_id> task;
  bool any{};
  std::string member;
  std::string placement;
  std::optional<std::uint32_t> num_tasks;
  std::optional<std::uint64_t> attempt;
  bool recoverable{};
  bool take_over{};
  bool returning{};
  duration join_timeout{core::timeout_default};
  duration leave_timeout{core::timeout_default};
  duration kill_grace{5s};
  bool joins_itself{};
  bool hosts_if_task_0{};
  bool has_relay{};
  coordinator_options coordinator;  // the part that the command line can set
  log_options log{.level = "warning"};
};

program_error no_task() {
  return {exit_code::usage,
          "--task-id is required, such as --task-id 0: neither COXSWAIN_TASK_ID nor a launcher "
          "provides it; see coxswain detect." +
              why_missing(&launch::parameters::task)};
}

// The launcher provides what the command line does not.
client_options member(task_command const& given) {
  auto as = observer(given.remote);
  auto const& launcher = launched();
  as.any = given.any || !given.member.empty();
  as.member = given.member;
  as.placement = placement_of(given.placement);
  if (!as.any) as.task = given.task;
  if (auto const number = launcher.task; !as.any && !as.task && number.value()) {
    as.task = task_id{*number.value()};
  }
  if (!as.any && !as.task) throw no_task();
  as.num_tasks = given.num_tasks ? given.num_tasks : launcher.num_tasks.value();
  as.attempt = given.attempt;
  if (!as.attempt && given.remote.address.empty()) as.attempt = launcher.attempt.value();
  return as;
}

// The coordinator's address for an unmodified JAX program: the port of --xla-listen on the
// coordinator's host. Empty: it is unknown here, but the environment can contain it.
std::string jax_address_for(task_command const& given, client_options const& as) {
  auto const& listeners = given.coordinator.server.xla.listen;
  // Such a program has one coordinator, and ends with it.
  auto const host = net::endpoint::parse_list(as.address).value().front();
  if (!listeners.empty()) {
    auto const listener = net::endpoint::parse(listeners.front()).value();
    if (listener.is_unix() || host.is_unix()) return listener.text();
    auto const text = host.text();
    return fmt::format("{}:{}", text.substr(0, text.rfind(':')), listener.port());
  }
  bool const is_open = as.token.empty() && as.tls.ca.empty();
  return is_open ? host.text() : std::string{};
}

task_run_options options_of(task_command const& given, std::vector<std::string> command) {
  auto as = member(given);
  if (given.recoverable) as.recoverable = true;
  if (given.hosts_if_task_0) as.hosted_by_task = 0;
  as.on_event = say_waits("coxswain task");
  task_run_options options{std::move(as)};
  options.join.timeout = given.join_timeout;
  options.join.take_over = given.take_over;
  options.leave = leave_options{given.leave_timeout};
  options.leave.returning = given.returning;
  options.kill_grace = given.kill_grace;
  options.command = std::move(command);
  options.joins_itself = given.joins_itself;
  options.jax_address = jax_address_for(given, options.client);
  options.tcp_store_address = options.jax_address;
  options.local_task = launched().local_task.value().value_or(0);
  if (given.joins_itself && options.client.any) {
    throw program_error{exit_code::usage,
                        "--jax: a JAX program needs the number of its task; "
                        "--any and --member have none"};
  }
  return options;
}

// The relay speaks for unmodified JAX and torch programs, and they survive a restart of the
// coordinator.
void use_host_relay(task_command const& given, task_run_options& options) {
  auto const relay = start_host_relay(options.client);
  if (relay.empty()) return;
  options.client.address = relay.front() + ',' + options.client.address;
  if (!given.coordinator.server.xla.strict) options.jax_address = relay.front();
  if (relay.size() > 1) options.tcp_store_address = relay.back();
}

bool lacks_jax_address(task_run_options const& options) {
  bool const is_inherited = std::getenv("JAX_COORDINATOR_ADDRESS") != nullptr;
  return options.joins_itself && options.jax_address.empty() && !is_inherited;
}

// The JAX program of the task that hosts the coordinator supports neither the token nor TLS: it
// gets a socket that only this user can connect to. It lives as long as what this returns.
std::unique_ptr<private_directory> add_jax_socket(task_command& given, task_run_options& options) {
  if (!lacks_jax_address(options)) return nullptr;
  auto made = std::make_unique<private_directory>();
  options.jax_address = "unix:" + made->path() + "/jax";
  given.coordinator.server.xla.listen.push_back(options.jax_address);
  return made;
}

// A torch program supports neither as well; those of the other tasks have their relays.
void add_tcp_store_listener(task_command& given, task_run_options const& options) {
  if (!given.has_relay || !options.tcp_store_address.empty()) return;
  given.coordinator.server.tcp_store_listen = {"127.0.0.1:0"};
}

void need_jax_address(task_run_options const& options) {
  if (!lacks_jax_address(options)) return;
  throw program_error{exit_code::usage,
                      "--jax: a JAX program can send neither a token nor a certificate; use "
                      "--relay, give the coordinator's address for JAX programs with --xla-listen, "
                      "or set JAX_COORDINATOR_ADDRESS"};
}

// The coordinator in this process, and its log.
class hosting {
 public:
  hosting(asio::io_context& io, task_command const& given, client_options const& as)
      : lines_{given.log, "coxswain task: coordinator: %l: %v"},
        host_{io, options_of(given, as, lines_)} {}

  task_host& host() { return host_; }

 private:
  static server::options options_of(task_command const& given, client_options const& as,
                                    log const& lines) {
    auto options = given.coordinator.server;
    auto meant = hosting_options(as);
    if (options.listen.empty()) options.listen = std::move(meant.listen);
    options.core.num_tasks = meant.core.num_tasks;
    options.core.job = std::move(meant.core.job);
    options.core.attempt = meant.core.attempt;
    options.core.hosted_by_task = meant.core.hosted_by_task;
    options.core.credentials = std::move(meant.core.credentials);
    options.tls = std::move(meant.tls);
    options.owns_process = true;
    options.log = lines.sink();
    return options;
  }

  log lines_;
  task_host host_;
};

int run_task(task_command& given, std::vector<std::string> command) {
  if (command.empty()) {
    throw program_error{exit_code::usage, "no command given: coxswain task -- CMD..."};
  }
  std::signal(SIGPIPE, SIG_IGN);
  asio::io_context io{1};
  auto options = options_of(given, std::move(command));
  // The coordinator's own process needs none, and starts it only now.
  bool const hosts = given.hosts_if_task_0 && options.client.task == task_id{0};
  if (given.has_relay && !hosts) use_host_relay(given, options);
  if (hosts) add_tcp_store_listener(given, options);
  auto const jax_socket = hosts ? add_jax_socket(given, options) : nullptr;
  need_jax_address(options);
  std::optional<hosting> coordinator;
  if (hosts) {
    options.descriptors = raise_descriptor_limit();
    coordinator.emplace(io, given, options.client);
    if (!given.coordinator.server.tcp_store_listen.empty()) {
      options.tcp_store_address = coordinator->host().addresses().back();
    }
    asio::co_spawn(io, warn_unless_local(options.client.address), asio::detached);
  }
  task_run task{io, std::move(options)};
  bool is_over{};
  std::exception_ptr problem;
  auto take = [&](std::exception_ptr p) {
    problem = std::move(p);
    is_over = true;
  };
  asio::co_spawn(io, task.run(), asio::bind_cancellation_slot(task.slot(), take));
  bool is_abandoned{};
  while (!is_over && io.run_one() > 0) {
    if (is_abandoned || !coordinator || !coordinator->host().has_failed()) continue;
    is_abandoned = true;
    task.abandon();
  }
  task.end();
  if (coordinator) coordinator->host().end(!problem && task.code().value_or(0) == 0);
  io.run_for(session_end_max);
  // The exit code of a failed command or a signal needs no further message.
  if (problem && task.code().value_or(0) == 0) std::rethrow_exception(problem);
  return task.code().value_or(static_cast<int>(exit_code::ok));
}

void add_membership_options(CLI::App& to, task_command& into) {
  add_number(to, "--task-id", into.task, 0,
             "Number of this task (set by coxswain run and by launchers)",
             std::numeric_limits<std::uint32_t>::max());
  to.add_flag("--any", into.any,
              "Join without a number: get one at the start, or wait as a spare for that of a task "
              "that fails");
  to.add_option("--member", into.member,
                "The same, with a name for which the next process gets the same number")
      ->type_name("NAME");
  to.add_option("--placement", into.placement,
                "Where this runs, such as pod1/rack7/b17: a spare replaces a task nearby")
      ->type_name("PARTS");
  add_number(to, "--num-tasks", into.num_tasks, 1,
             "Expected number of tasks of the job (set by coxswain run and by launchers)",
             std::numeric_limits<std::uint32_t>::max());
  add_number(to, "--attempt", into.attempt, 0, "The launcher's restart count");
  to.add_flag("--recoverable", into.recoverable,
              "If this task fails, the job continues, and the task can join again");
  to.add_flag("--returning", into.returning,
              "Expect the launcher to start the command again after exit code 0: barriers wait "
              "instead of failing");
  to.add_flag("--jax", into.joins_itself,
              "Run an unmodified JAX program, which joins and leaves as this task by itself");
  to.add_flag("--relay", into.has_relay,
              "Share one connection to the coordinator with this user's other tasks of the job "
              "on this host, through a relay that the first of them starts");
  add_timeout(to, "--join-timeout", into.join_timeout, "Time limit for all tasks to join");
  add_timeout(to, "--leave-timeout", into.leave_timeout, "Time limit for all tasks to leave");
  add_timeout(to, "--kill-grace", into.kill_grace,
              "Time from SIGTERM to SIGKILL for the command when the job has failed");
}

// Only the process of task 0 uses them.
void add_hosting_options(CLI::App& to, task_command& into) {
  to.add_flag(
      "--host-if-task-0", into.hosts_if_task_0,
      "Run the coordinator in the process of task 0, until all tasks have left. It listens at "
      "the address if that is this machine's alone, else at its port on all addresses");
  to.option_defaults()->group("With --host-if-task-0");
  into.coordinator.server.listen.clear();
  add_options(to, into.coordinator, {option_group::listeners});
  add_log_options(to, into.log);
  add_job_options(to, into.coordinator);
  add_options(to, into.coordinator, {option_group::journal});
}

constexpr auto task_footer =
    R"help(Joins the job, waits until all tasks have joined, runs the command, and leaves with the
others when it exits with 0: the task has finished, unless --returning says that its launcher starts
it again. With any other exit code the task has failed: all others learn at once which one, and how.
With --any or --member the coordinator assigns the number, in COXSWAIN_TASK_ID of the command. While
all numbers are taken this waits as a spare; it exits with 0 when the job ends well without it. See
coxswain serve --spares.
In an elastic job COXSWAIN_TASK_ID and _NUM_TASKS are those of the epoch in which the command
starts; coxswain epoch next prints later ones. If the epoch ends before all tasks have left, a task
whose command has ended leaves alone, and the others go on without it.
When the job fails, the command gets SIGTERM, and SIGKILL after --kill-grace. It inherits standard
input (unless that is a terminal), output and error.

The command and this program end together. SIGINT, SIGTERM, SIGQUIT and SIGHUP, which a closed
terminal sends, are passed on to the command and to all that it has started. What it leaves running
is killed when it ends; all are killed when this program is. Ctrl-Z (SIGTSTP) stops the command and
then this program; if heartbeats are missed meanwhile, the task can be declared lost. A process that
leaves the process group of the command (setsid) is not ended.

Every program with a Coxswain client that the command starts acts for the task, unchanged, and so
do the subcommands
  barrier, all-gather, reduce, all-equal, alive, topology, progress,
  sync-point, preempt, cancel, put and cas with --ephemeral, fail,
  reset and leave.
Several can run at once; a program's waits end with it, and the task continues. A program's join
returns at once; its leave waits for the other tasks, and takes effect when the command ends.
Programs reach the coordinator through COXSWAIN_TASK_SOCKET, a Unix socket in a directory below
TMPDIR that only this user can enter, and present COXSWAIN_TASK_SECRET, which is valid for this
command only. COXSWAIN_ADDRESS, _TASK_ID, _NUM_TASKS and _TASK_INCARNATION are set as well. All
other subcommands open sessions of their own, as everywhere.

An unmodified JAX program joins and leaves by itself: with --jax nothing else does so for the task,
and no other program can act for it. How it ends is reported at once, as for any command; if it ends
with 0 and never joined, the exit code is 1. For its jax.distributed.initialize() these are set:
JAX_COORDINATOR_ADDRESS, with --relay that of the relay, unless there is --xla-strict; if there are
tokens or TLS and neither --relay nor --xla-listen, set it yourself, except where this hosts the
coordinator; JAX_COORDINATOR_BIND_ADDRESS; SLURM_NTASKS, SLURM_PROCID and SLURM_LOCALID, with
SLURM_JOB_ID and SLURM_STEP_NODELIST unless they are set. The process uses the GPU with its number
on this machine, 0 if no launcher provides one; JAX_LOCAL_DEVICE_IDS overrides that.

For torch.distributed.init_process_group() with env:// these are set unless they are: RANK,
WORLD_SIZE and LOCAL_RANK, and, with --relay, if there are neither tokens nor TLS, or if the TCP
address of --xla-listen is given, MASTER_ADDR, MASTER_PORT, TORCHELASTIC_USE_AGENT_STORE=True and
TORCHELASTIC_RESTART_COUNT=0: the relay, or else the coordinator, speaks the protocol of torch's
TCPStore. Programs behind a relay survive a restart of the coordinator.

EXAMPLE
  coxswain run -n 4 -- coxswain task -- sh train.sh
  srun -n 64 coxswain task --host-if-task-0 --token-file token -- sh train.sh
  srun -n 64 coxswain task --host-if-task-0 --insecure --jax -- python train.py
  where train.sh is
    hosts=$(coxswain all-gather hosts "$(hostname)") || exit
    ./step --peers "$hosts" && coxswain barrier trained --timeout 10min

Without options and COXSWAIN_ variables, the address, the task and the number of tasks come from the
launcher: see coxswain detect. With --host-if-task-0 the job needs only its launcher; but the
coordinator ends with the process of task 0; after a failure, when all others have gone, or after a
minute.

With --journal the next process of task 0 continues the coordinator and the job, if its launcher
starts it again after its process was killed or its command has failed. Task 0 must be recoverable.

Options, except --take-over, can be set by variables too (--join-timeout is COXSWAIN_JOIN_TIMEOUT)
and in a --config file; see coxswain --help.

EXIT CODES
  That of the command, 128 + the number of the signal that killed it; 126 or
  127 if it cannot be run or found; 128 + the number of a signal that came
  while there was no command. If the command ended with 0 but the job has
  failed, or with --jax has never joined, 1.
  64 wrong usage, 69 no coordinator reachable, 74 the journal is damaged or
  cannot be written, 75 not all tasks joined in time, 77 refused (token, job,
  permission)
)help";

}  // namespace

void add_task(CLI::App& program, action& chosen) {
  auto given = std::make_shared<task_command>();
  given->remote.connect_timeout = 300s;
  auto& command = add_subcommand(program, "task", "Runs a command as one task of a job", chosen,
                                 [given, &program] {
                                   auto const* const app = program.get_subcommand("task");
                                   return run_task(*given, command_in(*app));
                                 });
  // Options end where the command begins.
  command.prefix_command();
  add_membership_options(command, *given);
  add_hosting_options(command, *given);
  add_remote_options(command, given->remote);
  command.add_fallback("--task-id", from_launcher(&launch::parameters::task));
  command.add_fallback("--num-tasks", from_launcher(&launch::parameters::num_tasks));
  command.add_fallback("--attempt", [given] {
    return given->remote.address.empty() ? from_launcher(&launch::parameters::attempt)()
                                         : std::nullopt;
  });
  // Without a variable: it ends another process.
  command.add_flag("--take-over", given->take_over,
                   "Replace another process of this task; both must be recoverable");
  command.footer(task_footer);
  command.shorten_help({"--task-id", "--num-tasks", "--address", "--job", "--token-file",
                        "--host-if-task-0", "--insecure", "--relay", "--jax", "--recoverable",
                        "--member", "--join-timeout", "--config"});
}

}  // namespace coxswain::tools
