#include "child/child_process.hpp"

#include "child/ending_signals.hpp"
#include "options/exit_code.hpp"

#include "coxswain/net/signals_blocked.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace coxswain::tools {
namespace {

struct pipe_ends {
  net::descriptor reading;
  net::descriptor writing;
};

[[noreturn]] void fail(std::string const& what, int problem) {
  throw program_error{exit_code::failed, what + ": " + std::strerror(problem)};
}

pipe_ends open_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("cannot make a pipe", errno);
  return {net::descriptor{ends[0]}, net::descriptor{ends[1]}};
}

// Our own environment with the command's variables in place of those of the same name.
std::vector<std::string> environment_of(child_command const& command) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    std::string_view const text{*variable};
    auto const name = text.substr(0, text.find('='));
    auto const is_ours = [name](auto const& one) { return one.first == name; };
    if (std::none_of(command.environment.begin(), command.environment.end(), is_ours)) {
      all.emplace_back(text);
    }
  }
  for (auto const& [name, value] : command.environment) {
    if (!value.empty()) all.push_back(name + "=" + value);
  }
  return all;
}

// Everything that the child needs between fork and exec. Nothing in it allocates: another thread
// may have held the allocator's lock when we forked.
struct preparation {
  pid_t parent;
  supervisor::group* group;
  bool ignores_hangup;  // as we do
  int input;
  int output;
  int errors;
  int report;  // gets errno if there is no exec
  rlimit const* descriptors;
  char* const* arguments;
  char* const* environment;
};

[[noreturn]] void become(preparation const& p) {
  ::setpgid(0, 0);
  p.group->store(::getpid());
  // The supervisor ends all of the group; but it may have been killed.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != p.parent) ::_exit(1);  // the parent ended before the line above
  // Lets the programs that the parent starts read its stack where only ancestors may.
  ::prctl(PR_SET_PTRACER, p.parent);
  ::dup2(p.input, STDIN_FILENO);
  ::dup2(p.output, STDOUT_FILENO);
  ::dup2(p.errors, STDERR_FILENO);
  // The child must not inherit descriptors opened elsewhere in this process.
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  if (p.descriptors->rlim_max > 0) ::setrlimit(RLIMIT_NOFILE, p.descriptors);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  if (p.ignores_hangup) ::signal(SIGHUP, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvpe(p.arguments[0], p.arguments, p.environment);
  int const problem = errno;
  [[maybe_unused]] auto const written = ::write(p.report, &problem, sizeof problem);
  ::_exit(127);
}

// Our signal handlers must not run in the child: they write to our event loop.
pid_t fork_without_signals(preparation const& p) {
  net::signals_blocked const meanwhile;
  auto const pid = ::fork();
  if (pid == 0) become(p);
  if (pid < 0) fail("cannot start another process", errno);
  return pid;
}

// Zero once the child has become its program, else why it did not.
int exec_problem(net::descriptor const& report) {
  int problem{};
  ssize_t count{};
  do {
    count = ::read(report.value(), &problem, sizeof problem);
  } while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(sizeof problem) ? problem : 0;
}

}  // namespace

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string ending::text() const {
  if (!was_killed) return fmt::format("exited with status {}", number);
  auto const* const name = ::sigabbrev_np(number);
  return fmt::format("killed by signal {} (SIG{}){}", number, name == nullptr ? "?" : name,
                     after_grace ? " that coxswain sent after --kill-grace" : "");
}

std::string ending::predicate() const { return (was_killed ? "was " : "") + text(); }

child_process::child_process(child_command const& command, supervisor::group& group)
    : group_{group} {
  auto arguments = command.arguments;
  auto environment = environment_of(command);
  auto const argument_pointers = pointers_to(arguments);
  auto const environment_pointers = pointers_to(environment);
  net::descriptor const nothing{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  bool const shares = command.shares_streams;
  auto output = shares ? pipe_ends{} : open_pipe();
  auto errors = shares ? pipe_ends{} : open_pipe();
  auto report = open_pipe();
  bool const shares_input = shares && ::isatty(STDIN_FILENO) == 0;
  preparation const prepared{::getpid(),
                             &group_,
                             is_ignored(SIGHUP),
                             shares_input ? STDIN_FILENO : nothing.value(),
                             shares ? STDOUT_FILENO : output.writing.value(),
                             shares ? STDERR_FILENO : errors.writing.value(),
                             report.writing.value(),
                             &command.descriptors,
                             argument_pointers.data(),
                             environment_pointers.data()};
  pid_ = fork_without_signals(prepared);
  ::setpgid(pid_, pid_);  // also here: whichever comes first
  report.writing.close();
  if (int const problem = exec_problem(report.reading); problem != 0) {
    group_ = 0;
    ::waitpid(pid_, nullptr, 0);
    auto const how = static_cast<exit_code>(problem == ENOENT ? 127 : 126);
    throw program_error{
        how, fmt::format("cannot run '{}': {}", arguments.front(), std::strerror(problem))};
  }
  output_ = std::move(output.reading);
  errors_ = std::move(errors.reading);
}

child_process::~child_process() {
  signal(SIGKILL);
  group_ = 0;
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

std::optional<ending> child_process::look() noexcept {
  if (ending_) return ending_;
  siginfo_t info{};
  auto const seen = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (seen != 0 || info.si_pid == 0) return std::nullopt;
  ending_ = ending{info.si_code != CLD_EXITED, info.si_status};
  return ending_;
}

bool child_process::has_stopped() const noexcept {
  siginfo_t info{};
  auto const seen = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG | WNOWAIT);
  return seen == 0 && info.si_pid != 0;
}

void child_process::signal(int number) const noexcept { ::kill(-pid_, number); }

}  // namespace coxswain::tools
