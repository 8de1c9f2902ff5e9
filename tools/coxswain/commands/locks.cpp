// coxswain lock, take: a command that runs while a lock or an item of a queue is held.

#include "child/command_run.hpp"
#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"

#include "coxswain/base/error.hpp"

#include <fmt/format.h>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

using namespace asio::experimental::awaitable_operators;

// What lock and take have in common: a command that runs while something is held.
class holder {
 public:
  holder(std::string program, duration kill_grace)
      : program_{std::move(program)}, kill_grace_{kill_grace} {}

  using awaited_check = std::function<asio::awaitable<void>()>;

  // Runs the command to its end, unless `loss` returns before, with its reason. All of it is gone
  // then. When it was stopped it continues after `check`, which fails if `held` was lost. Throws
  // program_error: `held` was lost; it cannot be started.
  asio::awaitable<ending> run(child_command what, std::string held,
                              asio::awaitable<std::string> loss, awaited_check check);

  // False: none runs.
  bool take_signal(int number) {
    if (command_) command_->end(number, kill_grace_);
    return command_.has_value();
  }

 private:
  asio::awaitable<void> go_on(awaited_check check);

  std::string program_;
  duration kill_grace_;
  std::optional<command_run> command_;
};

// What was lost is ended by `run`.
asio::awaitable<void> holder::go_on(awaited_check check) {
  bool may_retry = true;
  while (may_retry) {
    try {
      co_await check();
      if (command_) command_->signal(SIGCONT);
      co_return;
    } catch (error const& problem) {
      may_retry = problem.code() == errc::deadline_exceeded;
    }
  }
}

asio::awaitable<ending> holder::run(child_command what, std::string held,
                                    asio::awaitable<std::string> loss, awaited_check check) {
  auto const name = what.arguments.front();
  auto const executor = co_await asio::this_coro::executor;
  auto& command = command_.emplace(executor, program_, std::move(what));
  command.on_continue([this, executor, check = std::move(check)] {
    asio::co_spawn(executor, go_on(check), asio::detached);
  });
  auto const first = co_await (command.ended() || std::move(loss));
  if (auto const* const how = std::get_if<ending>(&first)) {
    command_.reset();
    co_return *how;
  }
  command.end(SIGTERM, kill_grace_);
  co_await command.ended();
  command_.reset();
  throw program_error{
      exit_code::unavailable,
      fmt::format("{} was lost, so '{}' was ended: {}", held, name, std::get<std::string>(first))};
}

struct holding_options {
  remote_options remote;
  duration wait{core::timeout_default};
  duration kill_grace{5s};
};

// `hold` runs `arguments` by the holder, and gives their exit code.
using held_command = std::function<asio::awaitable<int>(client&, holder&)>;

int hold(std::string const& program, holding_options const& given, held_command const& command) {
  holder by{"coxswain " + program, given.kill_grace};
  int code = 0;
  auto const talk = [&](client& c) -> asio::awaitable<void> { code = co_await command(c, by); };
  auto handle = [&](int signal) { return by.take_signal(signal); };
  int const outcome = take_part(given.remote, talk, handle);
  return outcome == 0 ? code : outcome;
}

std::vector<std::string> command_of(CLI::App const& app, std::string const& operand) {
  auto arguments = command_in(app);
  if (!arguments.empty()) return arguments;
  throw program_error{exit_code::usage, fmt::format("no command given: coxswain {} {} -- CMD...",
                                                    app.get_name(), operand)};
}

// The coordinator's newest error. Throws error: the session has ended.
asio::awaitable<events_result> newest_error(client& c) {
  std::optional<std::uint64_t> const from_the_oldest;
  auto const newest = events_options{core::severity::error, 0s}.with_last(1);
  co_return co_await c.watch_events(from_the_oldest, newest);
}

// Returns when the session has ended, with the reason. The call waits for events that are rare.
asio::awaitable<std::string> loss_of(client& c) {
  std::string why;
  events_options const later{core::severity::error};
  try {
    auto seen = co_await newest_error(c);
    for (;;) seen = co_await c.watch_events(seen.through, later);
  } catch (error const& problem) {
    why = problem.what();
  }
  co_return why;
}

struct lock_command {
  holding_options holding;
  std::string name;
};

asio::awaitable<int> run_locked(client& c, holder& by, lock_command const& given,
                                std::vector<std::string> const& arguments) {
  auto const token = co_await c.lock(given.name, given.holding.wait);
  child_command what;
  what.arguments = arguments;
  what.environment = {{"COXSWAIN_LOCK_TOKEN", std::to_string(token)}};
  auto held = fmt::format("lock '{}'", given.name);
  holder::awaited_check check = [&c]() -> asio::awaitable<void> { co_await newest_error(c); };
  auto const how = co_await by.run(std::move(what), std::move(held), loss_of(c), std::move(check));
  co_await c.unlock(given.name, token);
  co_return how.code();
}

struct take_command {
  holding_options holding;
  std::string queue;
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

asio::awaitable<int> run_with_item(client& c, holder& by, take_command const& given,
                                   std::vector<std::string> const& arguments) {
  auto const options = take_options{given.holding.wait}.with_lease(given.lease);
  auto item = co_await c.take(given.queue, options);
  child_command what;
  what.arguments = arguments;
  what.environment = {{"COXSWAIN_ITEM", item.value()},
                      {"COXSWAIN_ITEM_NUMBER", std::to_string(item.number())},
                      {"COXSWAIN_ITEM_REDELIVERIES", std::to_string(item.redeliveries())}};
  auto held = fmt::format("the lease of item {} of queue '{}'", item.number(), given.queue);
  auto extend = [&item, lease = given.lease] { return item.extend(lease); };
  holder::awaited_check check = std::move(extend);
  auto const how = co_await by.run(std::move(what), std::move(held),
                                   end_of_lease(item, given.lease), std::move(check));
  if (how.is_good()) {
    co_await item.finish();
  } else {
    co_await item.release();
  }
  co_return how.code();
}

constexpr auto kill_grace_text = "Time from the signal that ends CMD to SIGKILL";

constexpr auto together_text =
    "CMD and this program end together. SIGINT, SIGTERM, SIGQUIT and SIGHUP, which a closed\n"
    "terminal sends, are passed on to CMD and to all that it has started; SIGKILL follows after\n"
    "--kill-grace. If this program is killed, they are killed. Ctrl-Z (SIGTSTP) stops CMD and "
    "then\n"
    "this program; meanwhile its session times out, and others may go on. A process that leaves\n"
    "the process group of CMD (setsid) is not ended.\n\n";

}  // namespace

void add_take(CLI::App& program, action& chosen) {
  auto given = std::make_shared<take_command>();
  auto& command = add_subcommand(
      program, "take", "Runs a command for the first item of a queue", chosen, [given, &program] {
        auto const arguments = command_of(*program.get_subcommand("take"), "QUEUE");
        auto const run = [&](client& c, holder& by) {
          return run_with_item(c, by, *given, arguments);
        };
        return hold("take", given->holding, run);
      });
  command.prefix_command();
  command.add_option("QUEUE", given->queue, "The queue")->required();
  add_timeout(command, "--wait", given->holding.wait, "How long to wait for an item");
  add_timeout(command, "--lease", given->lease,
              "Return the item this long after the last sign of life of this program");
  add_timeout(command, "--kill-grace", given->holding.kill_grace, kill_grace_text);
  add_remote_options(command, given->holding.remote);
  command.footer(help_end(
      std::string{
          "Takes the first item and runs CMD with it in COXSWAIN_ITEM. The item is gone when CMD\n"
          "exits with 0. It returns to its place in the queue when CMD fails, when this program\n"
          "ends or loses its session, and when it does not extend the lease in time; so an item "
          "is\n"
          "not lost, but may be worked on twice. COXSWAIN_ITEM_REDELIVERIES is how often it came\n"
          "back, COXSWAIN_ITEM_NUMBER increases with every push. If the lease is lost, CMD gets\n"
          "SIGTERM, and SIGKILL after --kill-grace.\n\n"} +
      together_text +
      "Exits as CMD does, or with 128 + the number of the signal that killed it; with 69 if the\n"
      "lease was lost, and with 75 if there was no item in time.\n\n"
      "EXAMPLE\n  while coxswain take files -- sh -c './work \"$COXSWAIN_ITEM\"'; do :; done\n\n"));
}

void add_lock(CLI::App& program, action& chosen) {
  auto given = std::make_shared<lock_command>();
  auto& command = add_subcommand(
      program, "lock", "Runs a command while it holds a lock", chosen, [given, &program] {
        auto const arguments = command_of(*program.get_subcommand("lock"), "NAME");
        auto const run = [&](client& c, holder& by) {
          return run_locked(c, by, *given, arguments);
        };
        return hold("lock", given->holding, run);
      });
  command.prefix_command();
  command.add_option("NAME", given->name, "The lock; created on first use")->required();
  add_timeout(command, "--wait", given->holding.wait, "How long to wait for the lock");
  add_timeout(command, "--kill-grace", given->holding.kill_grace, kill_grace_text);
  add_remote_options(command, given->holding.remote);
  command.footer(help_end(
      std::string{
          "Waits until the lock is free, runs CMD, and unlocks. At most one CMD runs at a time, "
          "in\n"
          "the order of the requests. COXSWAIN_LOCK_TOKEN is the fencing token: it is greater "
          "than\n"
          "that of every earlier lock, so storage can reject writes of a command that has lost "
          "its\n"
          "lock. If the session with the coordinator ends meanwhile, the lock is lost: CMD gets\n"
          "SIGTERM, and SIGKILL after --kill-grace.\n\n"} +
      together_text +
      "Exits as CMD does, or with 128 + the number of the signal that killed it; with 69 if the\n"
      "lock was lost, and with 75 if it was not free in time.\n\n"
      "EXAMPLE\n  coxswain lock dataset --wait 10min -- ./download.sh\n\n"));
}

}  // namespace coxswain::tools
