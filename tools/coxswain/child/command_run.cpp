#include "child/command_run.hpp"

#include "options/units.hpp"
#include "terminal/error_output.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <utility>

namespace coxswain::tools {
namespace {

child_command with_our_streams(child_command command) {
  command.shares_streams = true;
  return command;
}

}  // namespace

command_run::command_run(asio::any_io_executor const& executor, std::string wrapper,
                         child_command command)
    : wrapper_{std::move(wrapper)},
      command_{with_our_streams(std::move(command))},
      child_changed_{executor, SIGCHLD},
      grace_{executor},
      control_{executor,
               {[this](int number) { signal(number); }, [this] { return process_.has_stopped(); }}},
      process_{command_, supervisor_.of(0)} {}

asio::awaitable<ending> command_run::ended() {
  for (;;) {
    if (auto how = process_.look()) {
      how->after_grace = was_killed_ && how->was_killed && how->number == SIGKILL;
      co_return *how;
    }
    control_.look();
    co_await child_changed_.async_wait(asio::use_awaitable);
  }
}

void command_run::end(int number, duration kill_grace) {
  signal(number);
  signal(SIGCONT);
  if (is_ending_) return;
  is_ending_ = true;
  grace_.expires_at(deadline_after(std::chrono::steady_clock::now(), kill_grace));
  grace_.async_wait(
      [this, number, kill_grace, alive = std::weak_ptr{alive_}](boost::system::error_code problem) {
        if (!problem && !alive.expired()) kill(number, kill_grace);
      });
}

void command_run::kill(int number, duration kill_grace) {
  if (process_.look()) return;
  print_error("{}: '{}' still runs {} after SIG{} (--kill-grace): SIGKILL\n", wrapper_,
              command_.arguments.front(), text_of(kill_grace), ::sigabbrev_np(number));
  was_killed_ = true;
  signal(SIGKILL);
}

}  // namespace coxswain::tools
