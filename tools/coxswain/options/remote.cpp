#include "options/remote.hpp"

#include "child/ending_signals.hpp"
#include "options/exit_code.hpp"
#include "options/launcher.hpp"
#include "options/tls.hpp"
#include "options/token.hpp"
#include "process/ended_jobs.hpp"
#include "process/job_registry.hpp"
#include "process/machine.hpp"
#include "terminal/error_output.hpp"
#include "terminal/harmless_text.hpp"
#include "text/job_words.hpp"

#include "coxswain/client/option_rows.hpp"
#include "coxswain/net/endpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/system/system_error.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace coxswain::tools {
namespace {

client_options acting_task(duration connect_timeout) {
  auto const pass = task_pass::from_environment();
  if (!pass) {
    throw program_error{exit_code::usage,
                        "this command acts for a task, and there is none: run it under\n"
                        "  coxswain task -- CMD...\nwhich sets COXSWAIN_TASK_SOCKET and "
                        "COXSWAIN_TASK_SECRET"};
  }
  client_options options{pass->address, pass->task};
  options.connect_timeout = connect_timeout;
  return options;
}

// The launcher provides an address that was not given. If it starts processes on several hosts and
// names none of them, the default would be a guess, and all processes but one would time out.
std::string launchers_address() {
  auto const& found = launched().address;
  if (!found.why_missing().empty()) {
    throw program_error{exit_code::usage, "--address is required. " + found.why_missing()};
  }
  return found.value().value_or(address_default);
}

// A coordinator that cannot be reached differs from a call that timed out; any other error of the
// Hello is a refusal.
exit_code why_not_connected(errc code) {
  if (code == errc::deadline_exceeded) return exit_code::unavailable;
  if (code == errc::failed_precondition) return exit_code::refused;
  return exit_code_of(code);
}

void use_credentials_of(registered_job const& job, remote_options& with) {
  with.token = job.token;
  if (!with.tls.is_wanted()) with.tls = job.tls;
}

// Where an address was only guessed. The last job may be the one that is looked for.
std::string no_job_here() {
  std::string text = "\nno job of yours runs on this machine";
  if (auto const ended = ended_jobs(); !ended.empty()) {
    auto const& last = ended.front();
    text += fmt::format("; the last one, '{}', ended at {}: {}", last.job,
                        local_time_text(last.ended), harmless_line(last.how));
    if (!last.recording.empty()) text += "\nsee it with: coxswain replay " + last.recording;
  }
  return text + "\nstart one with coxswain run or coxswain serve, or give the --address of one";
}

// On loopback, where the answer is immediate.
bool refuses_connections(std::string const& address) {
  auto const at = net::endpoint::parse(address).value();
  asio::io_context io;
  asio::ip::tcp::socket probe{io};
  boost::system::error_code problem;
  probe.connect({asio::ip::make_address(at.host()), at.port()}, problem);
  return problem == asio::error::connection_refused;
}

asio::awaitable<void> hold(client_options options, conversation const& talk) {
  client with = co_await connect(std::move(options));
  co_await talk(with);
  co_await with.leave();
}

// The outcome of a session, and whether a signal ended it.
class outcome {
 public:
  outcome(asio::io_context& io, signal_handler handle) : handle_{std::move(handle)}, signals_{io} {
    add_ending_signals(signals_);
    await_signal();
  }

  asio::cancellation_slot slot() { return cancel_.slot(); }

  void end(std::exception_ptr problem) {
    problem_ = std::move(problem);
    is_over_ = true;
    signals_.cancel();
  }

  [[nodiscard]] bool is_over() const { return is_over_; }

  int code() const {
    if (signal_) return 128 + *signal_;
    if (problem_) std::rethrow_exception(problem_);
    return static_cast<int>(exit_code::ok);
  }

 private:
  void await_signal() {
    signals_.async_wait([this](boost::system::error_code problem, int number) {
      if (problem) return;
      if (handle_ && handle_(number)) return await_signal();
      signal_ = number;
      cancel_.emit(asio::cancellation_type::terminal);
    });
  }

  signal_handler handle_;
  asio::signal_set signals_;
  asio::cancellation_signal cancel_;
  std::optional<int> signal_;
  std::exception_ptr problem_;
  bool is_over_{};
};

int converse_as(client_options options, conversation talk, signal_handler handle) try {
  asio::io_context io{1};
  outcome ending{io, std::move(handle)};
  auto take = [&ending](std::exception_ptr problem) { ending.end(std::move(problem)); };
  options.on_event = say_waits("coxswain");
  asio::co_spawn(io, hold(std::move(options), talk),
                 asio::bind_cancellation_slot(ending.slot(), take));
  while (!ending.is_over() && io.run_one() > 0) continue;
  io.run_for(session_end_max);
  return ending.code();
} catch (error const& problem) {
  throw program_error{exit_code_of(problem.outcome().code()), problem.what()};
}

}  // namespace

void add_remote_options(subcommand& to, remote_options& into) {
  to.option_defaults()->group("Coordinator");
  to.add_option("--address", into.address,
                client_option_text("address") +
                    " (default: the launcher's, that of your job here, or " + address_default + ")")
      ->type_name("ADDRESS")
      ->check(address_list_check());
  to.add_option("--job", into.job, client_option_text("job") + " (default: the launcher's, or any)")
      ->type_name("NAME");
  add_token_file(to, into.token_file);
  add_tls_options(to, into.tls);
  into.gives_connect_timeout = add_duration(to, "--connect-timeout", into.connect_timeout,
                                            client_option_text("connect_timeout"));
  to.option_defaults()->group("Options");
  to.name_variables();
  to.add_fallback("--address", from_launcher(&launch::parameters::address));
  to.add_fallback("--job", [&into] {
    return into.address.empty() ? from_launcher(&launch::parameters::job)() : std::nullopt;
  });
  to.add_fallback("--token-file", token_of_variable, subcommand::rank::above_file);
}

bool is_inside_task() { return task_pass::from_environment().has_value(); }

remote_options located(remote_options with) {
  auto jobs = running_jobs();
  auto const given = with.address.empty() ? launched().address.value().value_or("") : with.address;
  if (!given.empty()) {
    if (auto const* const known = job_at(given, jobs)) use_credentials_of(*known, with);
    return with;
  }
  std::set<std::string> names;
  for (auto const& one : jobs) names.insert(one.job);
  std::erase_if(
      jobs, [&](registered_job const& one) { return !with.job.empty() && one.job != with.job; });
  if (jobs.empty() && names.empty()) return with;
  if (jobs.empty()) {
    throw program_error{
        exit_code::usage,
        harmless_line(fmt::format("you have no job '{}' here; there {} {}", with.job,
                                  names.size() == 1 ? "is" : "are", fmt::join(names, ", ")))};
  }
  auto const& newest = jobs.front();
  if (jobs.size() > 1 && !with.takes_newest) {
    throw program_error{exit_code::usage,
                        fmt::format("{} of your jobs run on this machine; choose one with "
                                    "--job or --address:\n{}",
                                    jobs.size(), jobs_text(jobs))};
  }
  if (jobs.size() > 1) {
    print_error("coxswain: this is job '{}' at {}, the newest of {}; see coxswain jobs\n",
                harmless_line(newest.job), newest.address, jobs.size());
  }
  with.address = newest.address;
  use_credentials_of(newest, with);
  return with;
}

client_options observer(remote_options const& with) {
  bool const is_given = !with.address.empty();
  client_options options{is_given ? with.address : launchers_address()};
  options.job = with.job;
  if (!is_given && with.job.empty()) options.job = launched().job.value().value_or("");
  options.token = read_token(with.token_file);
  static bool has_warned{};
  if (auto const why = exposure_of(with.token_file);
      !why.empty() && !std::exchange(has_warned, true)) {
    print_error("coxswain: warning: {}\n", harmless_line(why));
  }
  if (options.token.empty()) options.token = with.token;
  options.tls = with.tls;
  options.connect_timeout = with.connect_timeout;
  if (!with.command.empty()) {
    options.label =
        fmt::format("{} (process {}, coxswain {})", user_at_host(), ::getpid(), with.command);
  }
  return options;
}

std::function<void(client_event const&)> say_waits(std::string name) {
  return [name = std::move(name)](client_event const& happened) {
    bool const is_given =
        happened.what == client_event::kind::waiting || happened.what == client_event::kind::notice;
    if (!is_given) return;
    print_error("{}: {}\n", name, harmless_lines(happened.why.message()));
  };
}

asio::awaitable<client> connect(client_options options) {
  try {
    co_return co_await client::connect(std::move(options));
  } catch (error const& problem) {
    auto const code = problem.outcome().code();
    auto const* const next =
        code == errc::deadline_exceeded
            ? "\nIs it the right address? Your jobs on this machine: coxswain jobs"
            : "";
    throw program_error{why_not_connected(code), std::string{problem.what()} + next};
  }
}

int converse(remote_options const& with, conversation talk, signal_handler handle) {
  auto const there = located(with);
  bool const is_guess = there.address.empty() && !launched().address.value();
  bool const waits =
      with.gives_connect_timeout != nullptr && with.gives_connect_timeout->count() > 0;
  auto options = observer(there);
  if (is_guess && !waits && refuses_connections(options.address)) {
    throw program_error{exit_code::unavailable,
                        fmt::format("nothing listens at {} (--connect-timeout waits for it){}",
                                    options.address, no_job_here())};
  }
  try {
    return converse_as(std::move(options), std::move(talk), std::move(handle));
  } catch (program_error const& problem) {
    if (problem.how() != exit_code::unavailable || !is_guess) throw;
    throw program_error{problem.how(), problem.what() + no_job_here()};
  }
}

int act(conversation talk, duration connect_timeout, signal_handler handle) {
  return converse_as(acting_task(connect_timeout), std::move(talk), std::move(handle));
}

int take_part(remote_options const& with, conversation talk, signal_handler handle) {
  auto const pass = task_pass::from_environment();
  bool const is_its =
      pass && (with.address.empty() || client_options{with.address, pass->task}.is_guest());
  if (is_its) return act(std::move(talk), with.connect_timeout, std::move(handle));
  return converse(with, std::move(talk), std::move(handle));
}

}  // namespace coxswain::tools
