// coxswain incr: adds to a counter.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <memory>

namespace coxswain::tools {
namespace {

struct incr_command {
  remote_options remote;
  std::string key;
  std::int64_t by{1};
};

asio::awaitable<void> increment(client& c, incr_command const& given) {
  auto const sum = co_await c.increment(given.key, given.by);
  fmt::print("{}\n", sum);
}

}  // namespace

void add_incr(CLI::App& program, action& chosen) {
  auto given = std::make_shared<incr_command>();
  auto& command =
      add_subcommand(program, "incr", "Adds to a counter and prints the sum", chosen, [given] {
        return converse(given->remote, [given](client& c) { return increment(c, *given); });
      });
  command.add_option("KEY", given->key, "The counter; it is zero when it is missing")->required();
  add_number(command, "BY", given->by, std::numeric_limits<std::int64_t>::min(),
             std::numeric_limits<std::int64_t>::max(), "What to add, may be negative");
  add_remote_options(command, given->remote);
  command.footer(help_end());
}

}  // namespace coxswain::tools
