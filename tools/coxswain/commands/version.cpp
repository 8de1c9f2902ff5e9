// coxswain version.

#include "commands/version.hpp"

#include "commands/commands.hpp"
#include "options/exit_code.hpp"

#include "coxswain/core/model/messages.hpp"

#include <fmt/format.h>

namespace coxswain::tools {

void add_version(CLI::App& program, action& chosen) {
  add_subcommand(program, "version", "Prints the versions of the program and its protocol", chosen,
                 [] {
                   fmt::print("coxswain {}, protocol {}\n", version, core::protocol_version);
                   return static_cast<int>(exit_code::ok);
                 });
}

}  // namespace coxswain::tools
