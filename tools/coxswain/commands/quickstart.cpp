// coxswain-quickstart: a whole job on this machine, with its progress and its figures. The
// coordinator is in this process; each worker is a process of its own, which runs this program
// again as `coxswain-quickstart worker`.

#include "child/ending_signals.hpp"
#include "commands/quickstart_report.hpp"
#include "commands/quickstart_worker.hpp"
#include "options/command_line.hpp"
#include "options/exit_code.hpp"
#include "process/local_job.hpp"
#include "process/log.hpp"
#include "process/machine.hpp"
#include "terminal/error_output.hpp"
#include "terminal/progress_line.hpp"
#include "text/job_summary.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/client/client.hpp"

#include <fmt/format.h>
#include <boost/asio/signal_set.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::tools {
namespace {

constexpr auto job_name = "quickstart";
constexpr duration progress_period = 100ms;

struct settings {
  std::uint32_t workers{8};
  std::uint32_t rounds{1000};
};

void rethrow(std::exception_ptr problem) {
  if (problem) std::rethrow_exception(problem);
}

// "joining: 3 of 8 workers", "barrier rounds: 412 of 1000", "leaving: 7 of 8 workers".
void show_progress(core::snapshot const& picture, settings const& what, progress_line& line) {
  std::size_t present{};
  std::size_t gone{};
  for (auto const& t : picture.tasks) {
    present += t.state == task_state::never_connected ? 0 : 1;
    gone += t.state == task_state::left ? 1 : 0;
  }
  auto const now = std::chrono::steady_clock::now();
  for (auto const& b : picture.barriers) {
    if (b.name != rounds_barrier || b.what != core::snapshot::kind::tasks) continue;
    line.show(now, "barrier rounds", fmt::format("{} of {}", b.round.value, what.rounds));
    return;
  }
  if (gone > 0) {
    line.show(now, "leaving", fmt::format("{} of {} workers", gone, what.workers));
  } else if (present < what.workers) {
    line.show(now, "joining", fmt::format("{} of {} workers", present, what.workers));
  }
}

class quickstart {
 public:
  quickstart(asio::io_context& io, settings what, local_job_options options)
      : what_{what}, signals_{io}, job_{io, std::move(options)}, tick_{io} {
    add_ending_signals(signals_);
    await_signal();
  }

  asio::awaitable<void> run();

  [[nodiscard]] int code() const { return signal_ ? 128 + *signal_ : exit_code_of(job_); }

 private:
  asio::awaitable<void> follow();
  asio::awaitable<std::map<std::string, std::string>> reports();
  [[nodiscard]] std::vector<worker_row> rows(
      std::map<std::string, std::string> const& reports) const;
  void await_signal();

  settings what_;
  asio::signal_set signals_;
  std::optional<int> signal_;
  local_job job_;
  asio::steady_timer tick_;
  progress_line line_;
  bool is_over_{};
};

asio::awaitable<void> quickstart::run() {
  print_report("a coordinator at {} and {} workers, each a process of its own\n",
               job_.coordinator().addresses().front(), what_.workers);
  auto const executor = co_await asio::this_coro::executor;
  asio::co_spawn(executor, follow(), rethrow);
  co_await job_.run();
  is_over_ = true;
  tick_.cancel();
  line_.clear();

  auto const measured = co_await reports();
  signals_.clear();
  co_await job_.stop("the quickstart is over");
  auto const failure = failure_text(job_, "");
  print_report("\n{}\n{}", report_text(rows(measured)),
               failure.empty() ? "all workers: ok\n" : failure);
}

asio::awaitable<void> quickstart::follow() {
  while (!is_over_) {
    show_progress(job_.coordinator().look(), what_, line_);
    tick_.expires_after(progress_period);
    boost::system::error_code ignored;
    co_await tick_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

// The workers have gone; their measurements are in the coordinator, if it still runs.
asio::awaitable<std::map<std::string, std::string>> quickstart::reports() {
  std::map<std::string, std::string> all;
  client_options options{job_.coordinator().addresses().front()};
  options.job = job_name;
  options.connect_timeout = 1s;
  try {
    client observer = co_await client::connect(std::move(options));
    auto const found = co_await observer.list(reports_directory);
    for (auto const& one : found) all.emplace(one.key, one.value);
    co_await observer.leave();
  } catch (error const&) {
    // Then it has failed before any existed; the rows have the reason.
  }
  co_return all;
}

std::vector<worker_row> quickstart::rows(std::map<std::string, std::string> const& reports) const {
  std::vector<worker_row> all;
  for (std::uint32_t task = 0; task < what_.workers; ++task) {
    worker_row row;
    row.task = task;
    auto const& how = job_.endings()[task];
    if (how) row.pid = job_.pid(task);
    row.result = !how ? "was not started" : how->is_good() ? "ok" : how->text();
    if (auto const report = reports.find(report_key(task)); report != reports.end()) {
      row.has_report = true;
      row.report = parse_report(report->second);
      if (how && how->is_good()) row.result += fmt::format(", saw {} devices", row.report.devices);
    }
    all.push_back(std::move(row));
  }
  return all;
}

void quickstart::await_signal() {
  signals_.async_wait([this](boost::system::error_code problem, int number) {
    if (problem) return;
    signal_ = number;
    job_.interrupt(fmt::format("the quickstart was interrupted by SIG{}", ::sigabbrev_np(number)));
    await_signal();
  });
}

int run_job(settings const& what) {
  std::signal(SIGPIPE, SIG_IGN);
  local_job_options options;
  options.descriptors = raise_descriptor_limit();
  log const lines{{.level = "error"}, "coordinator: %v"};
  options.command = {std::filesystem::read_symlink("/proc/self/exe"), "worker", "--rounds",
                     std::to_string(what.rounds)};
  options.server.core.num_tasks = what.workers;
  options.server.core.job = job_name;
  options.server.log = lines.sink();
  options.failure_grace = 5s;

  asio::io_context io{1};
  quickstart all{io, what, std::move(options)};
  asio::co_spawn(io, all.run(), [&io](std::exception_ptr problem) {
    io.stop();
    rethrow(std::move(problem));
  });
  io.run();
  return all.code();
}

int run_worker(settings const& what) {
  asio::io_context io{1};
  asio::co_spawn(io, work(what.rounds), rethrow);
  io.run();
  return 0;
}

int run_program(int argc, char** argv) {
  CLI::App program{
      "Runs a whole job on this machine: a coordinator and N worker processes. They join, learn\n"
      "each other's devices, exchange data, wait at barriers, and leave. Prints what that took.",
      "coxswain-quickstart"};
  settings what;
  bool is_worker{};
  auto const add_rounds = [&what](CLI::App& to) {
    add_number(to, "--rounds", what.rounds, 0, 10'000'000, "How often all workers meet");
  };
  add_number(program, "N", what.workers, 1, 10'000, "The number of workers");
  add_rounds(program);
  auto& worker = *program.add_subcommand("worker", "One worker; the program starts it itself");
  worker.group("");
  worker.parse_complete_callback([&is_worker] { is_worker = true; });
  add_rounds(worker);
  try {
    program.parse(argc, argv);
  } catch (CLI::ParseError const& problem) {
    return program.exit(problem) == 0 ? 0 : static_cast<int>(exit_code::usage);
  }
  return is_worker ? run_worker(what) : run_job(what);
}

}  // namespace
}  // namespace coxswain::tools

int main(int argc, char** argv) try {
  return coxswain::tools::run_program(argc, argv);
} catch (coxswain::tools::program_error const& problem) {
  coxswain::tools::print_error("coxswain-quickstart: {}\n", problem.what());
  return static_cast<int>(problem.how());
} catch (std::exception const& problem) {
  coxswain::tools::print_error("coxswain-quickstart: {}\n", problem.what());
  return static_cast<int>(coxswain::tools::exit_code::failed);
}
