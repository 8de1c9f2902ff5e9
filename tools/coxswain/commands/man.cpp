// coxswain man: writes the manual pages, for packages.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "process/machine.hpp"
#include "text/manual.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace coxswain::tools {
namespace {

void write_page(std::filesystem::path const& directory, CLI::App const& of) {
  write_lines_atomically(directory / (manual_name(of) + ".1"), {manual_page(of)});
}

int write_pages(std::filesystem::path const& directory, CLI::App const& program) {
  std::filesystem::create_directories(directory);
  write_page(directory, program);
  for (auto const* one : program.get_subcommands([](CLI::App const*) { return true; })) {
    if (!one->get_group().empty()) write_page(directory, *one);
  }
  return static_cast<int>(exit_code::ok);
}

}  // namespace

void add_man(CLI::App& program, action& chosen) {
  auto directory = std::make_shared<std::string>();
  auto& command =
      add_subcommand(program, "man", "Writes the manual pages into a directory", chosen,
                     [directory, &program] { return write_pages(*directory, program); });
  command.add_option("DIRECTORY", *directory, "Directory, created if missing")->required();
  command.group("");  // hidden
  command.footer("");
}

}  // namespace coxswain::tools
