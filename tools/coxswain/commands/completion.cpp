// coxswain completion: what a shell needs to complete the program's command line.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "text/completion_script.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace coxswain::tools {
namespace {

int print_script(std::string const& shell, CLI::App const& program) {
  auto const of = shell == "bash"  ? bash_completion
                  : shell == "zsh" ? zsh_completion
                                   : fish_completion;
  fmt::print("{}", of(program));
  return static_cast<int>(exit_code::ok);
}

constexpr auto completion_footer =
    R"(The package of the program installs it. Otherwise:
  bash: coxswain completion bash \
            > ~/.local/share/bash-completion/completions/coxswain
  zsh:  coxswain completion zsh > a directory of $fpath/_coxswain
  fish: coxswain completion fish > ~/.config/fish/completions/coxswain.fish
or, for this shell alone:
  source <(coxswain completion bash)
)";

}  // namespace

void add_completion(CLI::App& program, action& chosen) {
  auto shell = std::make_shared<std::string>();
  auto& command =
      add_subcommand(program, "completion", "Prints the completion script for a shell", chosen,
                     [shell, &program] { return print_script(*shell, program); });
  command.add_option("SHELL", *shell, "Shell")->required()->check(one_of({"bash", "zsh", "fish"}));
  command.footer(completion_footer);
}

}  // namespace coxswain::tools
