// coxswain epoch, resize: elastic jobs, whose number of tasks changes.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/client/connection.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>

namespace coxswain::tools {
namespace {

struct epoch_command {
  remote_options remote;
  std::string what;
  duration timeout{core::timeout_default};
  bool shrink_only{};
};

// Prints nothing if the task has left because it is not in the next epoch.
asio::awaitable<void> await_next(client& c, epoch_command const& given) {
  epoch_options options{given.timeout};
  options.shrink_only = given.shrink_only;
  epoch next;
  try {
    next = co_await c.next_epoch(options);
  } catch (error const&) {
    if (!detail::connection_of(c)->is_dismissed()) throw;
    co_return;
  }
  fmt::print("{} {} {}\n", next.number, next.size, next.rank.value);
}

// 1 if none is wanted.
asio::awaitable<void> show_ending(client& c, int& code) {
  auto const job = co_await c.inspect();
  if (!job.elastic || job.elastic->epoch == 0) {
    throw error{status{errc::failed_precondition, "the job is not elastic, or no epoch has begun"}};
  }
  code = static_cast<int>(job.elastic->ending.empty() ? exit_code::failed : exit_code::ok);
  if (!job.elastic->ending.empty()) fmt::print("{}\n", job.elastic->ending);
}

asio::awaitable<void> show_members(client& c) {
  auto const all = co_await c.epoch_members();
  for (std::size_t i = 0; i < all.members.size(); ++i) {
    auto const& one = all.members[i];
    fmt::print("{} {} {} {}\n", i, one.name.empty() ? "-" : one.name,
               one.label.empty() ? "-" : one.label, one.survivor ? "survivor" : "new");
  }
}

int run(epoch_command const& given) {
  if (given.what == "next") {
    return act([&given](client& c) { return await_next(c, given); });
  }
  if (given.what == "members") return take_part(given.remote, show_members);
  int answer = 0;
  auto const code =
      take_part(given.remote, [&answer](client& c) { return show_ending(c, answer); });
  return code == 0 ? answer : code;
}

constexpr auto epoch_footer =
    R"(In an elastic job (coxswain serve --elastic) the number of tasks changes from epoch to epoch.
next waits, as a task, until all others have asked for the next epoch as well, and prints its
number, its number of tasks and the number of this task in it; nothing if this task is not in it,
such as after resize: then it has left. Until the next epoch the task takes part in nothing else.
wanted exits with 0 and prints the reason if the epoch is to end, or is over, and with 1 otherwise.
members prints a line for each task: its number, member, label, and whether it was there in the
epoch before.

EXAMPLE
  while :; do
    until ./finished || coxswain epoch wanted; do ./step || break; done
    ./finished && coxswain leave && exit
    epoch=$(coxswain epoch next) || exit
    [ "$epoch" ] || exit 0
  done

)";

struct resize_command {
  remote_options remote;
  std::uint32_t num_tasks{};
};

asio::awaitable<void> resize(client& c, resize_command const& given) {
  return c.resize(given.num_tasks);
}

}  // namespace

void add_epoch(CLI::App& program, action& chosen) {
  auto& command = add_subcommand(
      program, "epoch", "Waits for the next epoch of an elastic job, or shows the present one",
      chosen, run);
  auto& given = command.given;
  command.add_option("WHAT", given.what, "next, wanted or members")
      ->required()
      ->check(one_of({"next", "wanted", "members"}));
  add_timeout(command, "--timeout", given.timeout, "Time limit for the next epoch");
  command.add_flag("--shrink-only", given.shrink_only, "Nobody new joins the next epoch");
  add_remote_options(command, given.remote);
  command.footer(help_end(epoch_footer));
}

void add_resize(CLI::App& program, action& chosen) {
  auto& command = add_conversation(program, "resize",
                                   "Changes the number of tasks of an elastic job", chosen, resize);
  auto& given = command.given;
  given.remote.command = "resize";
  command.add_option("N", given.num_tasks, "The most tasks of its next epochs")
      ->required()
      ->check(CLI::Range(std::uint32_t{1}, std::numeric_limits<std::uint32_t>::max()));
  add_remote_options(command, given.remote);
  command.footer(help_end(
      "The present epoch goes on until all its members have asked for the next one. Then those\n"
      "with the highest numbers leave, or processes that wait join.\n\n"
      "EXAMPLE\n  coxswain resize 384\n\n"));
}

}  // namespace coxswain::tools
