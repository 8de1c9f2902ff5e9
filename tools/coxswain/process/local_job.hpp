#pragma once
// A whole job on this machine: a coordinator on the caller's io_context, one child process for each
// task, and one for each spare. A process of a recoverable task that has failed is started again,
// if that was asked for. How a process ends is reported to the coordinator at once: the task has
// finished, or the others learn the true cause of its failure. In an elastic job the processes are
// members without numbers; as many run as the job asks for. Not here: its presentation.
//
// Not thread-safe; one at a time in a process, because it takes SIGCHLD.

#include "child/child_process.hpp"
#include "child/job_control.hpp"
#include "child/supervisor.hpp"
#include "process/output_relay.hpp"
#include "stacks/stack_taker.hpp"

#include "coxswain/net/asio.hpp"
#include "coxswain/relay/relay.hpp"
#include "coxswain/server/server.hpp"

#include <boost/asio/signal_set.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::tools {

// Somebody has stopped the job, with coxswain stop or over HTTP.
[[nodiscard]] bool is_stop_on_request(core::event const& what);

struct local_job_options {
  server::options server;
  std::vector<std::string> command;  // what each task runs
  rlimit descriptors{};              // the children's limits of open files; zero: as ours
  std::string relay;                 // where a relay for them listens; empty: none

  std::uint32_t spares{};        // further processes, which join without a number
  std::uint32_t restarts_max{};  // of each process of a recoverable task, or of an elastic job
  std::string log_directory;     // which also gets the output of each process; empty: none

  // Time from SIGTERM to SIGKILL.
  duration kill_grace{10s};
  // Time for the other processes to end by themselves after the job has failed; then they get
  // SIGTERM.
  duration failure_grace{30s};
};

class local_job {
 public:
  // The coordinator listens from now on. Errors: those of server::server.
  local_job(asio::io_context& io, local_job_options options);
  // Kills what still runs.
  ~local_job();

  // Starts the processes and waits until all have ended. The coordinator keeps running, unless one
  // of them failed before it had joined. Throws program_error: a process could not be started; the
  // others are killed with this object.
  asio::awaitable<void> run();

  // Stops the coordinator, waits until all clients have read its goodbye, and passes on the last
  // output.
  asio::awaitable<void> stop(std::string reason);

  // Interrupts the job: SIGTERM for all processes, and SIGKILL after the grace; a second call:
  // SIGKILL at once. Unless the job has failed already, it can no longer fail: when a process now
  // ends with an error, the coordinator stops with this reason.
  void interrupt(std::string reason);

  [[nodiscard]] server::server const& coordinator() const noexcept { return coordinator_; }
  [[nodiscard]] server::server& coordinator() noexcept { return coordinator_; }

  // How the processes of tasks ended, none for those that run or were never started. All processes
  // of an elastic job are listed, and no task's.
  [[nodiscard]] std::vector<std::optional<ending>> const& endings() const noexcept {
    return endings_;
  }
  // Whether the process ended only after the job's end had a cause.
  [[nodiscard]] bool ended_with_job(std::uint32_t process) const {
    return ended_with_job_[process];
  }
  [[nodiscard]] bool is_elastic() const noexcept { return options_.server.core.elastic; }

  // Why the job ended, if not by an error of the job: it was stopped, could not begin, has too few
  // processes left, or its tasks were deadlocked. Empty: none of these.
  [[nodiscard]] std::string const& first_cause() const noexcept { return first_cause_; }

  // The job ended because of a stop on request.
  [[nodiscard]] bool was_stopped() const noexcept { return was_stopped_; }

  // Where the errors are that processes wrote after the failure of another; empty: there are none.
  [[nodiscard]] std::string errors_after_failure() const {
    return output_.has_set_aside() ? errors_aside_ : std::string{};
  }

  [[nodiscard]] bool was_interrupted() const noexcept { return !interruption_.empty(); }

  // The first process that ended badly, in the order in which we saw it. None if that was because
  // the job was interrupted, another process has finished its task, or an elastic job has finished
  // without it.
  [[nodiscard]] std::optional<task_id> first_bad() const noexcept { return first_bad_; }

 private:
  [[nodiscard]] local_job_options completed(local_job_options options);
  void note(core::event const& what);
  void note_stop(core::event const& what, bool is_cause_known);
  void blame_deadlock();
  void set_aside_errors(task_id but_of);
  void start_relay(asio::io_context& io);
  // Processes are numbered like their tasks; those of spares follow.
  [[nodiscard]] bool is_spare(std::uint32_t process) const { return process >= endings_.size(); }
  // Else it joins without a number.
  [[nodiscard]] bool numbers(std::uint32_t process) const {
    return !is_elastic() && !is_spare(process);
  }
  // "3", "spare-0", or "m3" in an elastic job.
  [[nodiscard]] std::string name_of(std::uint32_t process) const;
  [[nodiscard]] child_command command_of(std::uint32_t process, bool has_number) const;
  void start(std::uint32_t process, bool has_number);
  // If it may have another process. After a pause, which doubles each time.
  [[nodiscard]] bool start_later(std::uint32_t process);
  [[nodiscard]] bool may_start() const;
  [[nodiscard]] bool start_again(std::uint32_t process);
  asio::awaitable<void> end_spares();
  void resize();
  void start_anew(std::uint32_t process);
  void check_all();
  [[nodiscard]] bool have_stopped() const;
  void take_stacks(core::stacks_wanted const& wanted);
  [[nodiscard]] stack_taker::process process_of(core::stacks_wanted::process const& wanted) const;
  void report_ended(std::uint32_t task, status why);
  void has_ended(std::uint32_t process, ending how);
  void member_has_ended(std::uint32_t process, ending how);
  void end_hopeless(std::uint32_t process);
  [[nodiscard]] bool is_over() const;
  void forgive_replaced();
  void blame_member();
  [[nodiscard]] task_state state_of(std::uint32_t task) const;
  void signal_groups(int number) const;
  // They end: none is started again.
  void signal_all(int number);
  void end_processes();
  void end_processes_after(duration grace);

  std::string first_cause_;
  bool has_failed_join_{};  // that is the cause
  bool was_stopped_{};
  bool have_all_left_{};  // the tasks of this epoch, some of whose commands may go on
  bool is_decided_{};     // what follows is no first cause: the job has failed or is over
  struct {
    std::string text;
    time_point ended{time_point::max()};
  } deadlock_;  // the last one
  local_job_options options_;
  server::server coordinator_;
  std::optional<relay::relay> relay_;
  std::string tcp_store_;  // where the processes' TCPStore clients connect
  asio::signal_set child_ended_;
  job_control control_;
  supervisor supervisor_;
  asio::steady_timer timer_;
  asio::steady_timer coordinator_ended_;
  std::exception_ptr coordinator_problem_;
  bool coordinator_runs_{true};
  int interrupts_{};
  output_relay output_;
  stack_taker stacks_;
  std::string errors_aside_;  // the file or directory of those that come after a failure
  struct member {
    std::unique_ptr<child_process> process;
    bool runs{};
    bool was_killed{};  // by us, because it did not end
    std::uint32_t restarts{};
    std::optional<asio::steady_timer> pause;  // until it is started again
  };
  std::vector<member> members_;
  std::vector<std::optional<ending>> endings_;  // of tasks, or of all members of an elastic job
  std::vector<bool> ended_with_job_;            // likewise
  std::size_t running_{};                       // or to be started again
  std::size_t wanted_;                          // of these; an operator can change it (resize)
  std::size_t leaving_{};                       // at the last resize: members of no epoch any more
  std::optional<task_id> first_bad_;
  bool is_failing_{};         // the others are to end
  std::string interruption_;  // why, if the job had not failed before
};

}  // namespace coxswain::tools
