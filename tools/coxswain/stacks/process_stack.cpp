#include "stacks/process_stack.hpp"

#include "stacks/process_state.hpp"
#include "stacks/thread_stacks.hpp"
#include "terminal/harmless_text.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/net/descriptor.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

// Reading the symbols of a large program takes seconds.
constexpr duration py_spy_max = 4s;
constexpr duration debugger_max = 3s;
constexpr std::size_t output_bytes_max = 256 * 1024;

struct tool_run {
  std::string output;
  std::string errors;
  bool is_good{};
};

// Its first line that says something.
std::string first_line(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  return harmless_line(std::string{text.substr(0, std::min<std::size_t>(text.find('\n'), 200))});
}

std::optional<std::string> program_in(std::string const& directory, std::string const& name) {
  if (directory.empty()) return std::nullopt;
  auto path = directory + "/" + name;
  if (::access(path.c_str(), X_OK) == 0) return path;
  return std::nullopt;
}

std::optional<std::string> program_in_path(std::string const& name) {
  char const* const path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    auto const directory = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(directory.size() + 1, rest.size()));
    if (auto found = program_in(std::string{directory}, name)) return found;
  }
  return std::nullopt;
}

// A pip installs it where it installs this program, or the Python.
std::optional<std::string> find_py_spy(std::string const& beside) {
  if (auto found = program_in_path("py-spy")) return found;
  std::error_code problem;
  auto const self = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (!problem) {
    if (auto found = program_in(self.parent_path().string(), "py-spy")) return found;
  }
  return program_in(beside, "py-spy");
}

void read_from(int from, std::string& into, bool& is_open) {
  std::array<char, 8192> buffer;
  auto const count = ::read(from, buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  is_open = count > 0;
  if (count <= 0) return;
  auto const room = output_bytes_max - std::min(output_bytes_max, into.size());
  into.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
}

// Killed when the time is over: its output so far counts.
tool_run run_tool(std::vector<std::string> arguments, duration at_most) {
  tool_run result;
  int out[2];
  int problems[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return result;
  net::descriptor const output{out[0]};
  net::descriptor output_end{out[1]};
  if (::pipe2(problems, O_CLOEXEC) != 0) return result;
  net::descriptor const errors{problems[0]};
  net::descriptor errors_end{problems[1]};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, problems[1], STDERR_FILENO);
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t child{};
  int const started =
      ::posix_spawn(&child, arguments.front().c_str(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  output_end.close();
  errors_end.close();
  if (started != 0) {
    result.errors = std::generic_category().message(started);
    return result;
  }
  auto const until = std::chrono::steady_clock::now() + at_most;
  bool reads_output = true;
  bool reads_errors = true;
  while (reads_output || reads_errors) {
    auto const left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      ::kill(child, SIGKILL);
      result.errors = fmt::format("it took more than {} s", at_most / 1s);
      break;
    }
    std::array<pollfd, 2> waits{pollfd{reads_output ? output.value() : -1, POLLIN, 0},
                                pollfd{reads_errors ? errors.value() : -1, POLLIN, 0}};
    if (::poll(waits.data(), waits.size(), static_cast<int>(left.count())) <= 0) continue;
    if (waits[0].revents != 0) read_from(output.value(), result.output, reads_output);
    if (waits[1].revents != 0) read_from(errors.value(), result.errors, reads_errors);
  }
  int how{};
  while (::waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
  result.is_good = WIFEXITED(how) && WEXITSTATUS(how) == 0;
  return result;
}

struct attempt {
  std::vector<thread_stack> threads;
  std::string problem;  // with each program that was tried
};

void note_problem(attempt& in, std::string_view program, tool_run const& run) {
  if (!in.problem.empty()) in.problem += "; ";
  auto const why = first_line(run.errors);
  in.problem += fmt::format("{}: {}", program, why.empty() ? "it found no frames" : why);
}

attempt read_stacks(pid_t pid, std::string const& beside) {
  attempt all;
  auto const number = std::to_string(pid);
  if (auto const py_spy = find_py_spy(beside)) {
    auto const run = run_tool({*py_spy, "dump", "--nonblocking", "--pid", number}, py_spy_max);
    all.threads = py_spy_stacks(run.output);
    if (!all.threads.empty()) return all;
    note_problem(all, "py-spy", run);
  } else {
    all.problem = "py-spy is not installed, so there are no Python frames";
  }
  if (auto const eu_stack = program_in_path("eu-stack")) {
    auto const run = run_tool({*eu_stack, "-n", "64", "-p", number}, debugger_max);
    all.threads = eu_stacks(run.output);
    if (!all.threads.empty()) return all;
    note_problem(all, "eu-stack", run);
  } else if (auto const gdb = program_in_path("gdb")) {
    auto const run = run_tool({*gdb, "-nx", "-batch", "-p", number, "-ex",
                               "set debuginfod enabled off", "-ex", "thread apply all bt 64"},
                              debugger_max);
    all.threads = gdb_stacks(run.output);
    if (!all.threads.empty()) return all;
    note_problem(all, "gdb", run);
  } else {
    all.problem += "; neither are eu-stack and gdb, so there are no C frames";
  }
  return all;
}

std::string lines_of(std::vector<std::string> const& frames, std::string_view indent) {
  std::string text;
  for (auto const& frame : frames) {
    text.append(indent).append(harmless_line(frame)).append("\n");
  }
  return text;
}

}  // namespace

process_stack stack_of(pid_t root, std::string_view client, std::string const& beside) {
  auto const process = chosen_process(other_processes(), root, client);
  if (!process) return {{}, fmt::format("process {} has ended", root)};
  auto const kernel = kernel_frames(process->pid);
  auto found = read_stacks(process->pid, beside);
  process_stack made;
  bool const is_stopped = process->state == 'T' || process->state == 't';
  auto const activity = activity_of(*process);
  if (is_stopped) made.main = state_text(process->state) + "\n";
  if (!found.threads.empty()) {
    made.main += lines_of(found.threads.front().frames, "");
  } else if (!is_stopped) {
    made.main = activity + "\n";
  }
  made.rest = fmt::format("process {} ({}): {}\n", process->pid, harmless_line(process->name),
                          harmless_line(activity));
  if (!kernel.empty()) made.rest += "in the kernel:\n" + lines_of(kernel, "  ");
  for (std::size_t i = 1; i < found.threads.size(); ++i) {
    auto const& one = found.threads[i];
    made.rest +=
        one.name.empty() ? "another thread:\n" : "thread " + harmless_line(one.name) + ":\n";
    made.rest += lines_of(one.frames, "  ");
  }
  if (!found.problem.empty()) made.rest += found.problem + "\n";
  return made;
}

std::string printed(process_stack const& what) { return what.main + "\n" + what.rest; }

process_stack parse_printed(std::string_view text) {
  process_stack made;
  auto const end = text.starts_with('\n') ? 0 : text.find("\n\n");
  if (end == text.npos) {
    made.main = text;
  } else {
    made.main = text.substr(0, end == 0 ? 0 : end + 1);
    made.rest = text.substr(end == 0 ? 1 : end + 2);
  }
  while (made.main.ends_with('\n')) made.main.pop_back();
  while (made.rest.ends_with('\n')) made.rest.pop_back();
  return made;
}

}  // namespace coxswain::tools
