// coxswain cancel: ends the open round of a barrier for all who wait.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include <limits>
#include <memory>
#include <optional>

namespace coxswain::tools {
namespace {

struct cancel_command {
  remote_options remote;
  std::string name;
  std::optional<round_number> round;
};

asio::awaitable<void> cancel(client& c, cancel_command const& given) {
  co_await c.cancel_barrier(given.name, given.round);
}

}  // namespace

void add_cancel(CLI::App& program, action& chosen) {
  auto given = std::make_shared<cancel_command>();
  auto& command = add_subcommand(program, "cancel",
                                 "Ends the open round of a barrier for all tasks that wait at it",
                                 chosen, [given] {
                                   auto talk = [given](client& c) { return cancel(c, *given); };
                                   return take_part(given->remote, talk);
                                 });
  command.add_option("NAME", given->name, "The barrier, as status shows it")->required();
  add_number(
      command, "--round",
      [given](std::int64_t n) { given->round = round_number{static_cast<std::uint64_t>(n)}; }, 1,
      std::numeric_limits<std::int64_t>::max(), "Only if this round is the open one");
  add_remote_options(command, given->remote);
  command.footer(help_end(
      R"(Their calls fail with CANCELLED, which says who it was; the barrier can be used
again. Exits with 1 if nobody waits at it. Below coxswain task it is the task that cancels, and
that must take part in the round. Those who wait with `coxswain barrier` are
not meant: each ends its own with Ctrl-C.

EXAMPLE
  coxswain cancel epoch-7

)"));
}

}  // namespace coxswain::tools
