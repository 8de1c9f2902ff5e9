// coxswain cas: stores a value if the key is as expected.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"
#include "value_io.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <optional>

namespace coxswain::tools {
namespace {

struct cas_command {
  remote_options remote;
  std::string key;
  std::string value;
  std::optional<std::uint64_t> version;
  std::optional<std::string> expected;
  bool is_absent{};
  bool while_task_lives{};
};

expectation expected_by(cas_command const& given) {
  if (given.version) return expectation::version(*given.version);
  if (given.expected) return expectation::value(*given.expected);
  return expectation::absent();
}

asio::awaitable<void> compare_and_set(client& c, cas_command const& given) {
  auto value = value_of_argument(given.value);
  auto expected = expected_by(given);
  auto const lifetime = given.while_task_lives ? key_lifetime::task : key_lifetime::job;
  auto const came_of_it =
      co_await c.compare_and_set(given.key, value, std::move(expected), lifetime);
  if (!came_of_it) throw program_error{exit_code::failed, came_of_it.outcome.text()};
  fmt::print("{}\n", came_of_it.version);
}

int compare_and_set(cas_command const& given) {
  auto talk = [&given](client& c) { return compare_and_set(c, given); };
  return given.while_task_lives ? act(talk) : converse(given.remote, talk);
}

}  // namespace

void add_cas(CLI::App& program, action& chosen) {
  auto given = std::make_shared<cas_command>();
  auto& command = add_subcommand(
      program, "cas", "Stores a value if the key is as expected, and prints its new version",
      chosen, [given] { return compare_and_set(*given); });
  command.add_option("KEY", given->key, "The key's path")->required();
  command.add_option("VALUE", given->value, "The new value; - reads it from standard input")
      ->required();
  // Without variables: what destroys is asked for each time.
  auto& condition = *command.add_option_group("Condition", "What is expected of the key");
  add_number(
      condition, "--if-version",
      [given](std::int64_t n) { given->version = static_cast<std::uint64_t>(n); }, 0,
      std::numeric_limits<std::int64_t>::max(), "It is at this version, as ls -l and cas show it");
  condition.add_option("--if-value", given->expected, "It has this value")->type_name("VALUE");
  condition.add_flag("--if-absent", given->is_absent, "It has no value");
  condition.require_option(1);
  command.add_flag("--while-task-lives", given->while_task_lives,
                   "The key vanishes when this task fails or leaves; only below coxswain task");
  add_remote_options(command, given->remote);
  command.footer(
      help_end("Exits with 1 if the key is not as expected, and says what it is.\n\n"
               "EXAMPLE\n  One of many scripts becomes the leader:\n"
               "    coxswain cas leader \"$(hostname)\" --if-absent && ./lead\n"
               "  The same below coxswain task, until the leader fails or leaves:\n"
               "    coxswain cas leader \"$(hostname)\" --if-absent --while-task-lives && "
               "./lead\n\n"));
}

}  // namespace coxswain::tools
