// coxswain lock, take: a command that runs while a lock or an item of a queue is held.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"
#include "process/child_process.hpp"

#include "coxswain/base/error.hpp"

#include <fmt/format.h>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <csignal>
#include <string>
#include <vector>

namespace coxswain::tools {
namespace {

using namespace asio::experimental::awaitable_operators;

// Time from SIGTERM to SIGKILL for the command of a lost lock.
constexpr duration kill_grace = 5s;

struct lock_command {
  remote_options remote;
  std::string name;
  duration wait{core::timeout_default};
};

asio::awaitable<ending> end_of(child_process& command, asio::signal_set& child_ended) {
  for (;;) {
    if (auto const how = command.look()) co_return *how;
    co_await child_ended.async_wait(asio::use_awaitable);
  }
}

// Returns when the session has ended, with the reason. The call waits for events that are rare.
asio::awaitable<std::string> loss_of(client& c) {
  std::string why;
  std::optional<std::uint64_t> const from_the_oldest;
  auto const newest = events_options{core::severity::error, 0s}.with_last(1);
  events_options const later{core::severity::error};
  try {
    auto seen = co_await c.watch_events(from_the_oldest, newest);
    for (;;) seen = co_await c.watch_events(seen.through, later);
  } catch (error const& problem) {
    why = problem.what();
  }
  co_return why;
}

asio::awaitable<void> pause(asio::steady_timer& timer) {
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<int> run_locked(client& c, lock_command const& given,
                                std::vector<std::string> const& arguments) {
  auto const token = co_await c.lock(given.name, given.wait);
  auto const executor = co_await asio::this_coro::executor;
  asio::signal_set child_ended{executor, SIGCHLD};
  child_command what;
  what.arguments = arguments;
  what.environment = {{"COXSWAIN_LOCK_TOKEN", std::to_string(token)}};
  what.shares_streams = true;
  child_process command{what};
  auto const first = co_await (end_of(command, child_ended) || loss_of(c));
  if (auto const* const how = std::get_if<ending>(&first)) {
    co_await c.unlock(given.name, token);
    co_return how->code();
  }
  command.signal(SIGTERM);
  asio::steady_timer timer{executor, kill_grace};
  co_await (end_of(command, child_ended) || pause(timer));
  throw program_error{exit_code::unavailable,
                      fmt::format("lock '{}' was lost, so '{}' was ended: {}", given.name,
                                  arguments.front(), std::get<std::string>(first))};
}

int lock(lock_command const& given, std::vector<std::string> const& arguments) {
  if (arguments.empty()) {
    throw program_error{exit_code::usage, "no command given: coxswain lock NAME -- CMD..."};
  }
  int code = 0;
  auto const talk = [&](client& c) -> asio::awaitable<void> {
    code = co_await run_locked(c, given, arguments);
  };
  int const outcome = take_part(given.remote, talk);
  return outcome == 0 ? code : outcome;
}

struct take_command {
  remote_options remote;
  std::string queue;
  duration wait{core::timeout_default};
  duration lease{core::lease_default};
};

// Extends the lease until that fails; returns why.
asio::awaitable<std::string> end_of_lease(taken_item& item, duration lease) {
  auto const executor = co_await asio::this_coro::executor;
  asio::steady_timer timer{executor};
  std::string why;
  try {
    for (;;) {
      timer.expires_after(lease / 3);
      co_await timer.async_wait(asio::use_awaitable);
      co_await item.extend(lease);
    }
  } catch (error const& problem) {
    why = problem.what();
  }
  co_return why;
}

asio::awaitable<int> run_with_item(client& c, take_command const& given,
                                   std::vector<std::string> const& arguments) {
  auto const options = take_options{given.wait}.with_lease(given.lease);
  auto item = co_await c.take(given.queue, options);
  auto const executor = co_await asio::this_coro::executor;
  asio::signal_set child_ended{executor, SIGCHLD};
  child_command what;
  what.arguments = arguments;
  what.environment = {{"COXSWAIN_ITEM", item.value()},
                      {"COXSWAIN_ITEM_NUMBER", std::to_string(item.number())},
                      {"COXSWAIN_ITEM_REDELIVERIES", std::to_string(item.redeliveries())}};
  what.shares_streams = true;
  child_process command{what};
  auto const first = co_await (end_of(command, child_ended) || end_of_lease(item, given.lease));
  if (auto const* const how = std::get_if<ending>(&first)) {
    int const code = how->code();
    if (code == 0) {
      co_await item.finish();
    } else {
      co_await item.release();
    }
    co_return code;
  }
  command.signal(SIGTERM);
  asio::steady_timer timer{executor, kill_grace};
  co_await (end_of(command, child_ended) || pause(timer));
  throw program_error{
      exit_code::unavailable,
      fmt::format("the lease of item {} of queue '{}' was lost, so '{}' was ended: {}",
                  item.number(), given.queue, arguments.front(), std::get<std::string>(first))};
}

int take(take_command const& given, std::vector<std::string> const& arguments) {
  if (arguments.empty()) {
    throw program_error{exit_code::usage, "no command given: coxswain take QUEUE -- CMD..."};
  }
  int code = 0;
  auto const talk = [&](client& c) -> asio::awaitable<void> {
    code = co_await run_with_item(c, given, arguments);
  };
  int const outcome = take_part(given.remote, talk);
  return outcome == 0 ? code : outcome;
}

}  // namespace

void add_take(CLI::App& program, action& chosen) {
  auto given = std::make_shared<take_command>();
  auto& command = add_subcommand(
      program, "take", "Runs a command for the first item of a queue", chosen,
      [given, &program] { return take(*given, command_in(*program.get_subcommand("take"))); });
  command.prefix_command();
  command.add_option("QUEUE", given->queue, "The queue")->required();
  add_timeout(command, "--wait", given->wait, "How long to wait for an item");
  add_timeout(command, "--lease", given->lease,
              "Return the item this long after the last sign of life of this program");
  add_remote_options(command, given->remote);
  command.footer(help_end(
      "Takes the first item and runs CMD with it in COXSWAIN_ITEM. The item is gone when CMD\n"
      "exits with 0. It returns to its place in the queue when CMD fails, when this program ends\n"
      "or loses its session, and when it does not extend the lease in time; so an item is not\n"
      "lost, but may be worked on twice. COXSWAIN_ITEM_REDELIVERIES is how often it came back,\n"
      "COXSWAIN_ITEM_NUMBER increases with every push. If the lease is lost, CMD gets SIGTERM,\n"
      "and SIGKILL after 5 s.\n\n"
      "Exits as CMD does, or with 128 + the number of the signal that killed it; with 69 if the\n"
      "lease was lost, and with 75 if there was no item in time.\n\n"
      "EXAMPLE\n  while coxswain take files -- sh -c './work \"$COXSWAIN_ITEM\"'; do :; done\n\n"));
}

void add_lock(CLI::App& program, action& chosen) {
  auto given = std::make_shared<lock_command>();
  auto& command = add_subcommand(
      program, "lock", "Runs a command while it holds a lock", chosen,
      [given, &program] { return lock(*given, command_in(*program.get_subcommand("lock"))); });
  command.prefix_command();
  command.add_option("NAME", given->name, "The lock; created on first use")->required();
  add_timeout(command, "--wait", given->wait, "How long to wait for the lock");
  add_remote_options(command, given->remote);
  command.footer(help_end(
      "Waits until the lock is free, runs CMD, and unlocks. At most one CMD runs at a time, in\n"
      "the order of the requests. COXSWAIN_LOCK_TOKEN is the fencing token: it is greater than\n"
      "that of every earlier lock, so storage can reject writes of a command that has lost its\n"
      "lock. If the session with the coordinator ends meanwhile, the lock is lost: CMD gets\n"
      "SIGTERM, and SIGKILL after 5 s. SIGINT and SIGTERM kill CMD.\n\n"
      "Exits as CMD does, or with 128 + the number of the signal that killed it; with 69 if the\n"
      "lock was lost, and with 75 if it was not free in time.\n\n"
      "EXAMPLE\n  coxswain lock dataset --wait 10min -- ./download.sh\n\n"));
}

}  // namespace coxswain::tools
