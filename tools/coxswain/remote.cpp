#include "remote.hpp"

#include "exit_code.hpp"
#include "token.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/system/system_error.hpp>

#include <csignal>
#include <exception>
#include <optional>
#include <utility>

namespace coxswain::tools {
namespace {

// How long the end of a session may take once everything is said.
constexpr duration farewell_max = 1s;

client_options observer(remote_options const& with) {
  client_options options{with.address};
  options.job = with.job;
  options.token = read_token(with.token_file);
  options.connect_timeout = with.connect_timeout;
  return options;
}

// Nobody there within the time is another thing than a call that took too long; and whatever else
// the coordinator has against a Hello is a refusal.
exit_code why_not_connected(errc code) {
  if (code == errc::deadline_exceeded) return exit_code::unavailable;
  if (code == errc::failed_precondition) return exit_code::refused;
  return exit_code_of(code);
}

asio::awaitable<client> connect(client_options options) {
  try {
    co_return co_await client::connect(std::move(options));
  } catch (error const& problem) {
    throw program_error{why_not_connected(problem.code()), problem.what()};
  }
}

asio::awaitable<void> hold(client_options options, conversation const& talk) {
  client with = co_await connect(std::move(options));
  co_await talk(with);
  co_await with.leave();
}

// The outcome of a conversation, and whether a signal ended it.
class outcome {
 public:
  explicit outcome(asio::io_context& io) : signals_{io, SIGINT, SIGTERM} {
    signals_.async_wait([this](boost::system::error_code problem, int number) {
      if (problem) return;
      signal_ = number;
      cancel_.emit(asio::cancellation_type::terminal);
    });
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
  asio::signal_set signals_;
  asio::cancellation_signal cancel_;
  std::optional<int> signal_;
  std::exception_ptr problem_;
  bool is_over_{};
};

}  // namespace

void add_remote_options(CLI::App& to, remote_options& into) {
  to.add_option("--address", into.address, "The coordinator: host:port, [v6]:port or unix:/path")
      ->type_name("ADDRESS")
      ->check(address_check())
      ->capture_default_str();
  to.add_option("--job", into.job, "The job that it is expected to serve")
      ->type_name("NAME")
      ->default_str("default");
  add_token_file(to, into.token_file);
  add_duration(to, "--connect-timeout", into.connect_timeout,
               "How long to try to reach the coordinator");
  name_variables(to);
}

int converse(remote_options const& with, conversation talk) try {
  asio::io_context io{1};
  outcome ending{io};
  auto take = [&ending](std::exception_ptr problem) { ending.end(std::move(problem)); };
  asio::co_spawn(io, hold(observer(with), talk), asio::bind_cancellation_slot(ending.slot(), take));
  while (!ending.is_over() && io.run_one() > 0) continue;
  io.run_for(farewell_max);
  return ending.code();
} catch (error const& problem) {
  throw program_error{exit_code_of(problem.code()), problem.what()};
}

}  // namespace coxswain::tools
