// coxswain why: what everybody waits for, and who waits in vain.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"
#include "why_text.hpp"

#include "coxswain/status/json.hpp"

#include <fmt/format.h>

#include <memory>

namespace coxswain::tools {
namespace {

struct why_command {
  remote_options remote;
  bool as_json{};
};

asio::awaitable<void> show(client& c, why_command const& given) {
  auto const answer = co_await c.why();
  fmt::print("{}", given.as_json ? status_page::why_json(answer) + "\n" : why_text(answer));
}

}  // namespace

void add_why(CLI::App& program, action& chosen) {
  auto given = std::make_shared<why_command>();
  given->remote.takes_newest = true;
  auto& command = add_subcommand(
      program, "why", "Shows what everybody waits for, and who can never go on", chosen,
      [given] { return converse(given->remote, [given](client& c) { return show(c, *given); }); });
  command.add_flag("--json", given->as_json, "One JSON object on one line, for programs");
  add_remote_options(command, given->remote);
  command.footer(help_end(
      R"(For each barrier, key or queue: who waits, for how long, and who is missing, with what
that task does instead. STUCK are tasks that wait for each other in a circle, or for a
key or an item that nobody is left to provide; the coordinator says so in its log as well,
and as an event, a tenth of a second after the last of them began to wait. It does nothing
about it. A process with several threads counts as waiting when as many of its calls wait as
it ever had open at once.

EXAMPLES
  coxswain why
  coxswain why --json | jq -r '.waits[] | select(.stuck) | .name'

)"));
}

}  // namespace coxswain::tools
