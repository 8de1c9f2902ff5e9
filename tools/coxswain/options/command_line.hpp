#pragma once
// Missing in CLI11: options for durations, sizes and numbers, whose errors name the option, the
// value and the expected ones. Used by every subcommand.

#include "options/subcommand.hpp"
#include "options/units.hpp"

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coxswain::tools {

// The selected action; returns the program's exit code.
using action = std::function<int()>;

// A subcommand that, when selected, stores its action in `chosen`: `run`, unless --print-config is
// given.
subcommand& add_subcommand(CLI::App& program, std::string const& name, std::string const& purpose,
                           action& chosen, action run);

// Adds `made` to the program, likewise.
void add_subcommand(CLI::App& program, std::shared_ptr<subcommand> made, action& chosen,
                    action run);

// A subcommand that stores its arguments.
template <class Given>
struct subcommand_with : subcommand {
  using subcommand::subcommand;
  Given given;
};

template <class Given>
subcommand_with<Given>& add_subcommand(CLI::App& program, std::string const& name,
                                       std::string const& purpose, action& chosen,
                                       int (*run)(Given const&)) {
  auto const made = std::make_shared<subcommand_with<Given>>(program, name, purpose);
  add_subcommand(program, made, chosen, [run, &given = made->given] { return run(given); });
  return *made;
}

// Call it with the whole command line before parsing: hides the part after the `--` of a subcommand
// that runs a command, as in `coxswain run -n 4 -- CMD...`, from CLI11.
void protect_command(CLI::App const& program, std::vector<std::string>& arguments);

// That part, from the arguments left after parsing the options of `of`. Throws program_error
// (usage): it begins with an unknown option.
[[nodiscard]] std::vector<std::string> command_in(CLI::App const& of);

// An error of CLI11 about the options of `of`, with what to write instead.
[[nodiscard]] std::string in_plain_words(CLI::App const& of, CLI::ParseError const& problem);

// The error for an unknown subcommand or option, with the nearest known one.
[[nodiscard]] std::string unknown_subcommand(CLI::App const& program, std::string const& given);
[[nodiscard]] std::string unknown_option(CLI::App const& of, std::string const& given);

struct duration_limits {
  duration least{};
  bool may_be_forever{};
};

CLI::Option* add_duration(CLI::App& to, std::string const& name, duration& into,
                          std::string const& help, duration_limits limits = {});

// A duration that may be forever.
CLI::Option* add_timeout(CLI::App& to, std::string const& name, duration& into,
                         std::string const& help = "How long to wait for the others");

CLI::Option* add_size(CLI::App& to, std::string const& name, std::size_t& into,
                      std::string const& help, std::size_t least = 1);

// `shown_default` is empty if there is none. The bounds are allowed.
CLI::Option* add_number(CLI::App& to, std::string const& name,
                        std::function<void(std::int64_t)> store, std::int64_t least,
                        std::int64_t most, std::string const& help,
                        std::string const& shown_default = {});

// Stores into a variable whose present value is the default.
template <class Number>
CLI::Option* add_number(CLI::App& to, std::string const& name, Number& into, std::int64_t least,
                        std::int64_t most, std::string const& help) {
  auto store = [&into](std::int64_t number) { into = static_cast<Number>(number); };
  return add_number(to, name, store, least, most, help, std::to_string(into));
}

// Stores a number or an id into a variable that is empty by default. It is not below zero.
template <class Number>
CLI::Option* add_number(CLI::App& to, std::string const& name, std::optional<Number>& into,
                        std::int64_t least, std::string const& help,
                        std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  std::function<void(std::int64_t)> store = [&into](std::int64_t number) {
    if constexpr (std::is_integral_v<Number>) {
      into = static_cast<Number>(number);
    } else {
      into = Number{static_cast<decltype(Number::value)>(number)};
    }
  };
  return add_number(to, name, std::move(store), least, most, help);
}

// Tasks as they are written in ranges.
CLI::Option* add_tasks(CLI::App& to, std::string const& name, std::vector<task_id>& into,
                       std::string const& help);

// Refuses malformed addresses.
[[nodiscard]] CLI::Validator address_check();
[[nodiscard]] CLI::Validator address_list_check();
// An address or a port to listen on, or an inherited socket, which the server checks.
[[nodiscard]] CLI::Validator listener_check();

[[nodiscard]] CLI::Validator readable_file_check();

// Allows these values, which --help shows.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> const& allowed);

}  // namespace coxswain::tools
