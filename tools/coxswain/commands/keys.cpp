// coxswain put, get, ls, count, rm, incr, cas, append: values by their keys.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"
#include "options/value_io.hpp"
#include "terminal/error_output.hpp"
#include "terminal/harmless_text.hpp"
#include "terminal/table.hpp"

#include "coxswain/base/error.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

constexpr auto lives_help =
    "Remove the key when this task fails or leaves; only under coxswain task";

// For `put` and `cas`: only the task itself can store its ephemeral keys.
template <class Given>
int store(Given const& given, asio::awaitable<void> (*talk)(client&, Given const&)) {
  auto const about = [&given, talk](client& c) { return talk(c, given); };
  return given.ephemeral ? act(about) : converse(given.remote, about);
}

key_lifetime lifetime_of(bool ephemeral) {
  return ephemeral ? key_lifetime::ephemeral : key_lifetime::persistent;
}

struct put_command {
  remote_options remote;
  std::string key;
  std::string value;
  bool overwrite{};
  bool ephemeral{};
};

asio::awaitable<void> put_value(client& c, put_command const& given) {
  auto const value = value_of_argument(given.value);
  auto const mode = given.overwrite ? put_mode::overwrite : put_mode::create;
  put_options const options{mode, lifetime_of(given.ephemeral)};
  try {
    co_await c.put(given.key, value, options);
  } catch (error const& problem) {
    if (problem.code() != errc::already_exists) throw;
    throw program_error{exit_code::failed,
                        std::string{problem.what()} + "; --overwrite replaces its value"};
  }
}

int put(put_command const& given) { return store(given, put_value); }

struct get_command {
  remote_options remote{.takes_newest = true};
  std::string key;
  duration wait{};
};

asio::awaitable<void> get_value(client& c, get_command const& given) {
  if (given.wait > duration{}) {
    auto const value = co_await c.get(given.key, given.wait);
    print_value(value);
    co_return;
  }
  auto const value = co_await c.try_get(given.key);
  if (!value) {
    throw program_error{exit_code::failed,
                        fmt::format("key '{}' has no value; --wait 10s waits for one", given.key)};
  }
  print_value(*value);
}

int get(get_command const& given) {
  auto const talk = [&given](client& c) { return get_value(c, given); };
  return given.wait > duration{} ? take_part(given.remote, talk) : converse(given.remote, talk);
}

struct ls_command {
  remote_options remote{.takes_newest = true};
  std::string directory;
  bool with_details{};
  bool with_values{};
};

// The part of a value that fits into a table.
std::string beginning(std::string_view value) {
  constexpr std::size_t value_bytes_shown = 60;
  return value.size() <= value_bytes_shown
             ? std::string{value}
             : fmt::format("{}... ({} bytes)", value.substr(0, value_bytes_shown), value.size());
}

asio::awaitable<void> list(client& c, ls_command const& given) {
  auto const found = co_await c.list(given.directory);
  if (found.empty() && given.directory == "jobs") {
    print_error("coxswain ls: no key begins with 'jobs'; for your jobs: coxswain jobs\n");
  }
  if (!given.with_details && !given.with_values) {
    bool const is_read_by_people = ::isatty(STDOUT_FILENO) != 0;
    for (auto const& one : found) {
      fmt::print("{}\n", is_read_by_people ? harmless_line(one.key) : one.key);
    }
    co_return;
  }
  table shown{};
  if (given.with_details) {
    shown.add_column({"version", align::right});
    shown.add_column({"bytes", align::right});
  }
  shown.add_column({"key"});
  if (given.with_values) shown.add_column({"value"});
  for (auto const& one : found) {
    std::vector<std::string> row;
    if (given.with_details) row = {std::to_string(one.version), std::to_string(one.value.size())};
    row.push_back(one.key);
    if (given.with_values) row.push_back(beginning(one.value));
    shown.add(std::move(row));
  }
  fmt::print("{}", shown.text());
}

struct count_command {
  remote_options remote{.takes_newest = true};
  std::string directory;
};

asio::awaitable<void> count(client& c, count_command const& given) {
  auto const keys = co_await c.count(given.directory);
  fmt::print("{}\n", keys);
}

struct rm_command {
  remote_options remote;
  std::string key;
  bool recursive{};
  bool all{};
};

asio::awaitable<void> remove(client& c, rm_command const& given) {
  std::uint64_t count = 0;
  if (given.recursive) {
    bool const is_root = given.key.empty() || given.key == "/";
    if (is_root && !given.all) {
      throw program_error{exit_code::usage,
                          "this would remove all keys; if that is meant: coxswain rm -r --all /"};
    }
    auto const mode = given.all ? remove_mode::all : remove_mode::tree;
    count = co_await c.remove_tree(given.key, mode);
  } else if (given.key.empty() || given.key == "/") {
    throw program_error{exit_code::usage,
                        "the root is no key; to remove all keys: coxswain rm -r --all /"};
  } else {
    bool const was_there = co_await c.remove(given.key);
    count = was_there ? 1 : 0;
  }
  print_report("{} removed\n", count);
}

struct incr_command {
  remote_options remote;
  std::string key;
  std::int64_t by{1};
};

asio::awaitable<void> increment(client& c, incr_command const& given) {
  auto const sum = co_await c.increment(given.key, given.by);
  print_report("{}\n", sum);
}

struct append_command {
  remote_options remote;
  std::string key;
  std::string value;
};

asio::awaitable<void> append(client& c, append_command const& given) {
  auto const more = value_of_argument(given.value);
  auto const version = co_await c.append(given.key, more);
  print_report("{}\n", version);
}

struct cas_command {
  remote_options remote;
  std::string key;
  std::string value;
  std::optional<std::uint64_t> version;
  std::optional<std::string> expected;
  bool is_absent{};
  bool ephemeral{};
};

expectation expected_by(cas_command const& given) {
  if (given.version) return expectation::version(*given.version);
  if (given.expected) return expectation::value(*given.expected);
  return expectation::absent();
}

asio::awaitable<void> compare_and_set_value(client& c, cas_command const& given) {
  auto value = value_of_argument(given.value);
  auto expected = expected_by(given);
  auto const lifetime = lifetime_of(given.ephemeral);
  auto const came_of_it =
      co_await c.compare_and_set(given.key, value, std::move(expected), lifetime);
  if (!came_of_it) throw program_error{exit_code::failed, came_of_it.outcome.text()};
  print_report("{}\n", came_of_it.version);
}

int compare_and_set(cas_command const& given) { return store(given, compare_and_set_value); }

constexpr auto cas_footer =
    R"help(Exits with 1 if the key is not as expected, and prints its version.

EXAMPLE
  One of many scripts becomes the leader:
    coxswain cas leader "$(hostname)" --if-absent && ./lead
  The same under coxswain task, until the leader fails or leaves:
    coxswain cas leader "$(hostname)" --if-absent --ephemeral && ./lead

)help";

}  // namespace

void add_put(CLI::App& program, action& chosen) {
  auto& command = add_subcommand(program, "put",
                                 "Stores a value under a key, and wakes the tasks that wait for it",
                                 chosen, put);
  auto& given = command.given;
  command.add_option("KEY", given.key, "A path, such as config/learning-rate")->required();
  command.add_option("VALUE", given.value, "The value; - reads it from standard input")->required();
  command.add_flag("--ephemeral", given.ephemeral, lives_help);
  add_remote_options(command, given.remote);
  // Without a variable: destruction must be requested each time.
  command.add_flag("--overwrite", given.overwrite, "Replace an existing value");
  command.footer(
      help_end("EXAMPLES\n  coxswain put config/learning-rate 0.001\n"
               "  coxswain put model - --overwrite < model.bin\n"
               "  Put a value that begins with a dash after --:\n"
               "    coxswain put offset -- -x\n\n"));
}

void add_get(CLI::App& program, action& chosen) {
  auto& command = add_subcommand(program, "get", "Prints the value of a key", chosen, get);
  auto& given = command.given;
  command.add_option("KEY", given.key, "The key's path")->required();
  add_timeout(command, "--wait", given.wait, "How long to wait until the key has a value");
  add_remote_options(command, given.remote);
  command.footer(
      help_end("The value is printed as it is; a newline follows on a terminal. Under coxswain\n"
               "task, with --wait, the task waits.\n\n"
               "EXAMPLES\n  coxswain get address/0 --wait 30s\n"
               "  coxswain get model > model.bin\n\n"));
}

void add_ls(CLI::App& program, action& chosen) {
  auto& command = add_conversation(program, "ls", "Lists the keys below a directory, at any depth",
                                   chosen, list);
  auto& given = command.given;
  command.add_option("DIR", given.directory, "The directory (default: all keys)");
  command.add_flag("-l", given.with_details, "Show versions and sizes as well");
  command.add_flag("--values", given.with_values,
                   "Show the values as well, one line each, up to 60 bytes");
  add_remote_options(command, given.remote);
  command.footer(help_end());
}

void add_count(CLI::App& program, action& chosen) {
  auto& command = add_conversation(
      program, "count", "Prints the number of keys below a directory, at any depth", chosen, count);
  command.add_option("DIR", command.given.directory, "The directory (default: all keys)");
  add_remote_options(command, command.given.remote);
  command.footer(help_end());
}

void add_rm(CLI::App& program, action& chosen) {
  auto& command = add_conversation(program, "rm", "Removes a key, or a directory", chosen, remove);
  auto& given = command.given;
  command.add_option("KEY", given.key, "The key's path; the root, /, needs --all")->required();
  add_remote_options(command, given.remote);
  // Without variables: destruction must be requested each time.
  auto* const recursive =
      command.add_flag("-r,--recursive", given.recursive, "Remove everything below KEY, too");
  command.add_flag("--all", given.all, "Confirm that KEY is the root: remove all keys")
      ->needs(recursive);
  command.footer(help_end());
}

void add_incr(CLI::App& program, action& chosen) {
  auto& command =
      add_conversation(program, "incr", "Adds to a counter and prints the sum", chosen, increment);
  auto& given = command.given;
  command.add_option("KEY", given.key, "The counter; a missing one is zero")->required();
  add_number(command, "BY", given.by, std::numeric_limits<std::int64_t>::min(),
             std::numeric_limits<std::int64_t>::max(), "Number to add, may be negative");
  add_remote_options(command, given.remote);
  command.footer(help_end());
}

void add_append(CLI::App& program, action& chosen) {
  auto& command = add_conversation(program, "append",
                                   "Adds to the end of a value, and prints the key's new version",
                                   chosen, append);
  auto& given = command.given;
  command.add_option("KEY", given.key, "The key; a missing one is empty")->required();
  command.add_option("VALUE", given.value, "Data to append; - reads it from standard input")
      ->required();
  add_remote_options(command, given.remote);
  command.footer(help_end("EXAMPLE\n  date | coxswain append log -\n\n"));
}

void add_cas(CLI::App& program, action& chosen) {
  auto& command = add_subcommand(
      program, "cas", "Stores a value if the key is as expected, and prints its new version",
      chosen, compare_and_set);
  auto& given = command.given;
  command.add_option("KEY", given.key, "The key's path")->required();
  command.add_option("VALUE", given.value, "The new value; - reads it from standard input")
      ->required();
  // Without variables: destruction must be requested each time.
  auto& condition = *command.add_option_group("Condition", "Expected state of the key");
  add_number(condition, "--if-version", given.version, 0,
             "At this version, as shown by ls -l and cas");
  condition.add_option("--if-value", given.expected, "Has this value")->type_name("VALUE");
  condition.add_flag("--if-absent", given.is_absent, "Has no value");
  condition.require_option(1);
  command.add_flag("--ephemeral", given.ephemeral, lives_help);
  add_remote_options(command, given.remote);
  command.footer(help_end(cas_footer));
}

}  // namespace coxswain::tools
