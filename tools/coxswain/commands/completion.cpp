// coxswain completion: bash's completion of the program's command line, made of its --help-all.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace coxswain::tools {
namespace {

constexpr auto script =
    R"bash(# bash completion for coxswain, as `coxswain completion bash` prints it.
_coxswain() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command= files= words= help value arguments i
  COMPREPLY=()
  # --option=value is three words to bash.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ $command || ${COMP_WORDS[i]} == -* ]] || command=${COMP_WORDS[i]}
    [[ ${COMP_WORDS[i]} == -- ]] || continue
    # A command of another program follows.
    local kind=-f
    ((i < COMP_CWORD - 1)) || kind=-c
    mapfile -t COMPREPLY < <(compgen "$kind" -- "$current" | sort -u)
    return
  done
  help=$("$1" ${command:+"$command"} --help${command:+-all} 2>/dev/null)
  help=${help%%EXAMPLES*}
  if [[ $previous == -* ]]; then
    value=$(sed -nE "s/^ +([^ ]*,)?$previous(,[^ ]*)? ([A-Z]+([:=][^ ]*)?)( .*)?$/\3/p" <<<"$help")
    value=${value%%=*}
  fi
  case $value in
    FILE | DIR) files=1 ;;
    *{*}) words=${value##*\{} ;;
    NAME)
      [[ $previous == --job ]] || return
      words=$("$1" jobs --json 2>/dev/null | grep -o '"job":"[^"]*"' | cut -d'"' -f4)
      ;;
    ?*) return ;;
    *)
      if [[ $command ]]; then
        arguments=$(sed -n '/^Positionals:/,/^$/p' <<<"$help")
        [[ $arguments != *" FILE "* && $arguments != *" DIR DIR"* ]] || files=1
        [[ $arguments != *{* ]] || words=${arguments#*\{}
      else
        words=$(sed -nE 's/^  ([a-z][a-z-]*)  +[A-Z].*/\1/p' <<<"$help")
      fi
      ;;
  esac
  words=${words%%\}*}
  words=${words//,/ }
  if [[ ! $value && (! $current || $current == -*) ]]; then
    words+=" $(sed -nE 's/^ +(-[a-zA-Z],)?(--[a-z0-9-]+).*/\2/p' <<<"$help")"
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"
                           [[ ! $files ]] || compgen -f -- "$current")
  [[ ! $files ]] || compopt -o filenames 2>/dev/null
}
complete -F _coxswain coxswain
)bash";

constexpr auto completion_footer =
    R"(The package of the program installs it. Otherwise:
  coxswain completion bash > ~/.local/share/bash-completion/completions/coxswain
or, for this shell alone:
  source <(coxswain completion bash)
)";

}  // namespace

void add_completion(CLI::App& program, action& chosen) {
  auto shell = std::make_shared<std::string>();
  auto& command = add_subcommand(program, "completion", "Prints the completion script for a shell",
                                 chosen, [shell] {
                                   fmt::print("{}", script);
                                   return static_cast<int>(exit_code::ok);
                                 });
  command.add_option("SHELL", *shell, "Shell")->required()->check(one_of({"bash"}));
  command.footer(completion_footer);
}

}  // namespace coxswain::tools
