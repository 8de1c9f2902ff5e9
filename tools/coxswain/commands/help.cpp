// coxswain help: the same as --help.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace coxswain::tools {
namespace {

int print_help(std::string const& name, CLI::App const& program) {
  auto const has_name = [&name](CLI::App const* one) { return one->get_name() == name; };
  auto const found = program.get_subcommands(has_name);
  if (!name.empty() && found.empty()) {
    throw program_error{exit_code::usage, unknown_subcommand(program, name)};
  }
  auto const* const of = name.empty() ? &program : found.front();
  auto const shown_name = name.empty() ? "coxswain" : "coxswain " + name;
  fmt::print("{}", of->get_formatter()->make_help(of, shown_name, CLI::AppFormatMode::Normal));
  return static_cast<int>(exit_code::ok);
}

}  // namespace

void add_help(CLI::App& program, action& chosen) {
  auto name = std::make_shared<std::string>();
  auto& command = add_subcommand(program, "help", "Explains a subcommand, or the whole program",
                                 chosen, [name, &program] { return print_help(*name, program); });
  command.add_option("SUBCOMMAND", *name, "Which one (default: the whole program)");
}

}  // namespace coxswain::tools
