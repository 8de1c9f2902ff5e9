#include "process/task_run.hpp"

#include "child/ending_signals.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"
#include "options/tls.hpp"
#include "process/jax_environment.hpp"
#include "process/torch_environment.hpp"
#include "terminal/error_output.hpp"
#include "terminal/harmless_text.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/client/asking.hpp"
#include "coxswain/net/descriptor.hpp"
#include "coxswain/net/endpoint.hpp"

#include <fmt/format.h>

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iterator>
#include <random>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

// The final messages do not delay the end: the end of the session implies them.
constexpr duration report_max = 5s;
constexpr duration good_report_max = 1s;

// Whether the process that had served this Unix socket has ended.
bool has_ended(std::string_view address) {
  constexpr std::string_view begin = "unix:";
  if (!address.starts_with(begin)) return false;
  address.remove_prefix(begin.size());
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  if (address.size() >= sizeof(at.sun_path)) return false;
  address.copy(at.sun_path, address.size());
  net::descriptor const one{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  bool const connects =
      ::connect(one.value(), reinterpret_cast<sockaddr const*>(&at), sizeof(at)) == 0;
  return !connects && (errno == ECONNREFUSED || errno == ENOENT);
}

// Whether that is so of all of them. Of TCP addresses it cannot be known at once.
bool have_ended(std::string const& addresses) {
  auto const all = net::endpoint::parse_list(addresses).value();
  return std::all_of(all.begin(), all.end(),
                     [](net::endpoint const& one) { return has_ended(one.text()); });
}

// 16 random bytes, in hexadecimal.
std::string new_secret() {
  std::random_device device;
  std::string secret;
  for (int i = 0; i < 4; ++i) secret += fmt::format("{:08x}", device());
  return secret;
}

// Unless it was; or the coordinator knows no such task.
void report_unreported(status const& outcome) {
  if (outcome.ok() || outcome.code() == errc::not_found) return;
  print_error("coxswain task: its failure could not be reported: {}\n", outcome.text());
}

std::string failure_report(failure const& one) {
  if (!one.task) return one.why.text();
  return fmt::format("task {} failed: {}", one.task->value, one.why.text());
}

}  // namespace

task_run::task_run(asio::io_context& io, task_run_options options)
    : options_{std::move(options)},
      signals_{io},
      timer_{io},
      stacks_{io.get_executor(), directory_of_program(options_.command),
              [this](core::report_stack_args what) {
                asio::co_spawn(timer_.get_executor(), report_stack(std::move(what)),
                               asio::detached);
              }} {
  add_ending_signals(signals_);
  await_signal();
}

asio::awaitable<void> task_run::run() {
  // As long as we live: the client is destroyed first, and makes no more calls.
  auto follow = [this, notify = options_.client.on_event](client_event const& what) {
    if (notify) notify(what);
    if (what.what == client_event::kind::reconnected) is_away_ = false;
    if (what.what == client_event::kind::disconnected) is_away_ = true;
    if (forwarder_) forwarder_->follow();
  };
  auto as = options_.client;
  as.on_event = std::move(follow);
  as.supervises = options_.joins_itself;
  if (!as.is_guest()) {
    as.wants_stacks = [this](core::stacks_wanted const& wanted) { take_stacks(wanted); };
  }
  job_ = co_await connect(std::move(as));
  if (!options_.joins_itself) {
    if (!co_await has_joined()) co_return;
    co_await let_programs_act();
  }

  std::optional<program_error> problem;
  try {
    start_command();
  } catch (program_error const& why) {
    problem = why;
  }
  if (problem) {
    status const what{errc::aborted, problem->what()};
    if (!options_.joins_itself) static_cast<void>(co_await report(what));
    throw *std::move(problem);
  }
  auto const how = co_await command_->ended();

  command_.reset();
  code_ = how.code();
  if (options_.joins_itself) {
    co_await report_end(how);
    co_return;
  }
  co_await end_grant();
  if (how.is_good()) {
    co_await leave();
  } else if (!has_failed_) {
    status const what{errc::aborted, how.text()};
    static_cast<void>(co_await report(what));
  }
}

// The coordinator knows whether the COMMAND has joined. One that ends after the job has failed ends
// with it.
asio::awaitable<void> task_run::report_end(ending how) {
  status what;
  if (!how.is_good() && !has_failed_) what = status{errc::aborted, how.text()};
  if (!what.ok() && has_ended(options_.jax_address)) {
    print_error(
        "coxswain task: the relay or coordinator of '{}' at {} has ended: jaxlib ends its process "
        "when its "
        "connection ends\n",
        options_.command.front(), options_.jax_address);
  }
  // With all tasks the coordinator may have gone, too.
  if (what.ok() && is_away_) co_return;
  auto const notice = co_await report(what);
  if (notice.code() != errc::not_found) co_return;
  print_error(
      "coxswain task: '{}' {} and never joined: does it call "
      "jax.distributed.initialize()?\n",
      options_.command.front(), how.is_good() ? "ended" : how.text());
  if (how.is_good()) code_ = static_cast<int>(exit_code::failed);
}

// False: the job is over, and has not needed this spare.
asio::awaitable<bool> task_run::has_joined() {
  bool const is_any = options_.client.any;
  try {
    co_await job_.join(options_.join);
  } catch (error const& why) {
    if (!is_any || why.code() != errc::cancelled) throw;
    code_ = 0;
    co_return false;
  }
  options_.client.task = job_.task();
  co_return true;
}

// The others go on with the next epoch if this one ends before all have left. A command that has
// ended takes no part in that one.
asio::awaitable<void> task_run::leave() {
  try {
    co_await job_.leave(options_.leave);
    co_return;
  } catch (error const& why) {
    if (why.code() != errc::aborted || job_.epoch().number == 0) throw;
  }
  leave_options const alone{0s};
  co_await job_.leave(alone);
}

void task_run::end() noexcept {
  command_.reset();
  signals_.cancel();
  timer_.cancel();
  if (forwarder_) forwarder_->close();
  job_ = client{};
}

void task_run::await_signal() {
  signals_.async_wait([this](boost::system::error_code problem, int number) {
    if (problem) return;
    if (command_) {
      command_->signal(number);
    } else {
      code_ = 128 + number;
      abandon();
    }
    await_signal();
  });
}

// Under another `coxswain task` they connect through that one, as this process does.
asio::awaitable<void> task_run::let_programs_act() {
  if (options_.client.is_guest()) co_return;
  secret_ = new_secret();
  core::grant_args const args{secret_};
  detail::question q{args, core::timeout_default};
  auto const granted = co_await detail::ask(detail::connection_of(job_), std::move(q));
  detail::throw_unless_ok(granted);
  forwarder_ = std::make_shared<forwarder>(job_);
  asio::co_spawn(timer_.get_executor(), forwarder::serve(forwarder_), asio::detached);
}

// The remaining programs get no further.
asio::awaitable<void> task_run::end_grant() {
  if (!forwarder_) co_return;
  if (have_ended(options_.client.address)) {
    forwarder_->close();
    co_return;
  }
  co_await forwarder::finish_ended(forwarder_, report_max);
  detail::question q{core::grant_args{}, report_max};
  co_await detail::ask(detail::connection_of(job_), std::move(q));
  forwarder_->close();
}

child_command task_run::command() const {
  auto const& as = options_.client;
  child_command command;
  command.arguments = options_.command;
  command.descriptors = options_.descriptors;
  command.environment = {{"COXSWAIN_ADDRESS", as.address},
                         {"COXSWAIN_JOB", as.job},
                         {"COXSWAIN_TOKEN", as.token},
                         {"COXSWAIN_TOKEN_FILE", ""},
                         {"COXSWAIN_TASK_ID", std::to_string(as.task->value)},
                         {"COXSWAIN_ANY", ""},
                         {"COXSWAIN_MEMBER", ""},
                         {"COXSWAIN_PLACEMENT", ""},
                         {"COXSWAIN_NUM_TASKS", std::to_string(job_.num_tasks())}};
  auto& variables = command.environment;
  auto const add = [&](environment_variables more) {
    std::move(more.begin(), more.end(), std::back_inserter(variables));
  };
  if (!options_.jax_address.empty()) add(jax_address_variables(options_.jax_address));
  add(jax_process_variables(as.task->value, job_.num_tasks(), options_.local_task));
  add(torch_address_variables(options_.tcp_store_address));
  add(torch_process_variables(as.task->value, job_.num_tasks(), options_.local_task));
  if (forwarder_) {
    variables.emplace_back("COXSWAIN_TASK_SOCKET", forwarder_->path());
    variables.emplace_back("COXSWAIN_TASK_SECRET", secret_);
    variables.emplace_back("COXSWAIN_TASK_INCARNATION", std::to_string(job_.incarnation().value));
  }
  add(tls_variables(as.tls));
  return command;
}

void task_run::start_command() {
  command_.emplace(timer_.get_executor(), "coxswain task", command());
  auto ignore = [](std::exception_ptr) {};  // CANCELLED: we have left
  asio::co_spawn(timer_.get_executor(), end_with_job(), ignore);
}

asio::awaitable<void> task_run::end_with_job() {
  auto const why = co_await job_.failure();
  has_failed_ = true;
  if (!command_) co_return;
  print_error("coxswain task: {}; ending '{}'\n", harmless_lines(failure_report(why.cause)),
              options_.command.front());
  // A command that has reported its failure may end by itself.
  if (why.cause.task == options_.client.task) co_await pause();
  if (command_) command_->end(SIGTERM, options_.kill_grace);
}

// For the grace, or until the end.
asio::awaitable<void> task_run::pause() {
  boost::system::error_code ignored;
  timer_.expires_at(deadline_after(std::chrono::steady_clock::now(), options_.kill_grace));
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

// The outcome of the report. A relay that has gone is not waited for: the coordinator learns of the
// end from it or by the end of its grace.
asio::awaitable<status> task_run::report(status what) {
  bool const is_failure = !what.ok();
  if (have_ended(options_.client.address)) {
    status outcome{errc::unavailable, "no process serves " + options_.client.address + " any more"};
    if (is_failure) report_unreported(outcome);
    co_return outcome;
  }
  duration const limit = is_failure ? report_max : good_report_max;
  core::report_error_args args{std::move(what)};
  detail::question q{std::move(args), limit};
  status outcome;
  try {
    auto const notice = co_await detail::ask(detail::connection_of(job_), std::move(q));
    outcome = notice.outcome;
  } catch (error const& why) {
    outcome = why.outcome();
  }
  if (is_failure) report_unreported(outcome);
  co_return outcome;
}

void task_run::take_stacks(core::stacks_wanted const& wanted) {
  std::vector<stack_taker::process> all;
  for (auto const& one : wanted.processes) {
    // The client is this program itself, unless the COMMAND joins by itself.
    all.push_back({one.task, command_ ? command_->pid() : 0,
                   options_.joins_itself ? one.name : std::string{}, "its command is not running"});
  }
  stacks_.take(wanted.number, std::move(all));
}

// The coordinator reports what is missing.
asio::awaitable<void> task_run::report_stack(core::report_stack_args what) {
  detail::question q{std::move(what), report_max};
  try {
    co_await detail::ask(detail::connection_of(job_), std::move(q));
  } catch (error const&) {
  }
}

}  // namespace coxswain::tools
