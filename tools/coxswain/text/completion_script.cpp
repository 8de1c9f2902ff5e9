#include "text/completion_script.hpp"

#include "options/help_formatter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace coxswain::tools {
namespace {

enum class operand : std::uint8_t { none, file, choice, other };

// The data of an option, or of a positional argument, for a shell.
struct completed {
  std::vector<std::string> names;  // "-n", "--num-tasks"
  std::string purpose;
  operand value{};
  std::vector<std::string> choices;
};

struct completed_command {
  std::string name;
  std::string purpose;
  bool is_followed{};  // by another program's command
  std::vector<completed> options;
  std::vector<completed> arguments;
};

completed completed_of(CLI::Option const& option) {
  completed made{CLI::detail::split(option.get_name(false, true), ','), option.get_description(),
                 operand::other, option_choices(option)};
  auto const type = option.get_type_name();
  bool const is_file = type == "FILE" || type == "DIR" || option.get_name(true) == "FILE";
  if (is_file) made.value = operand::file;
  if (!made.choices.empty()) made.value = operand::choice;
  if (option.get_items_expected_max() == 0) made.value = operand::none;
  return made;
}

void add_options(completed_command& to, CLI::App const& of) {
  for (auto const* option : of.get_options()) {
    (option->get_positional() ? to.arguments : to.options).push_back(completed_of(*option));
  }
  for (auto const* group : of.get_subcommands([](CLI::App const*) { return true; })) {
    if (group->get_name().empty()) add_options(to, *group);
  }
}

std::vector<completed_command> commands_of(CLI::App const& program) {
  std::vector<completed_command> all;
  for (auto const* one : program.get_subcommands([](CLI::App const*) { return true; })) {
    if (one->get_group().empty()) continue;
    all.push_back({one->get_name(), one->get_description(), one->get_prefix_command(), {}, {}});
    add_options(all.back(), *one);
  }
  return all;
}

std::string names_of(std::vector<completed_command> const& all) {
  std::string names;
  for (auto const& one : all) names += one.name + ' ';
  return names;
}

constexpr auto bash_begin =
    R"(# bash completion for coxswain, as `coxswain completion bash` prints it.
_coxswain() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command= options= words= files= i
  COMPREPLY=()
  # --option=value is three words to bash.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} != -* ]]; then
      command=${COMP_WORDS[i]}
      break
    fi
  done
  if [[ $command == run || $command == task ]]; then
    # What follows -- is a command of somebody else's.
    for (( ; i < COMP_CWORD; ++i)); do
      [[ ${COMP_WORDS[i]} == -- ]] || continue
      if ((i == COMP_CWORD - 1)); then
        COMPREPLY=($(compgen -c -- "$current"))
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
      fi
      return
    done
  fi
  case $command in
)";

constexpr auto bash_end = R"(  esac
  if [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    [[ $current && $current != -* ]] || words+=" $options"
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -F _coxswain coxswain
)";

// The word after an option is its value, if it has one.
std::string bash_value(completed const& one) {
  if (one.value == operand::none) return {};
  auto const what = one.value == operand::file ? std::string{"files=1"}
                    : one.value == operand::choice
                        ? fmt::format("words='{}'", fmt::join(one.choices, " "))
                        : std::string{"return"};
  return fmt::format("        {}) {} ;;\n", fmt::join(one.names, " | "), what);
}

std::string bash_arguments(std::vector<completed> const& all) {
  for (auto const& one : all) {
    if (one.value == operand::file) return "          files=1\n";
    if (one.value == operand::choice) {
      return fmt::format("          words='{}'\n", fmt::join(one.choices, " "));
    }
  }
  return {};
}

// A file may follow one of a few words.
std::string bash_after_choice(std::vector<completed> const& arguments) {
  if (arguments.size() < 2) return {};
  bool const is_followed =
      arguments[0].value == operand::choice && arguments[1].value == operand::file;
  if (!is_followed) return {};
  return fmt::format("        {}) files=1 ;;\n", fmt::join(arguments[0].choices, " | "));
}

std::string bash_command(completed_command const& one) {
  auto values = bash_after_choice(one.arguments);
  std::string options;
  for (auto const& option : one.options) {
    values += bash_value(option);
    options += option.names.back() + ' ';
  }
  auto const arguments = bash_arguments(one.arguments);
  return fmt::format(
      "    {})\n      case $previous in\n{}        *)\n          options='{}'\n{}          ;;\n"
      "      esac\n      ;;\n",
      one.name, values, options, arguments);
}

// Within single quotes, with `also` escaped, too.
std::string quoted(std::string_view text, std::string_view also, std::string_view quote) {
  std::string all;
  for (char c : text) {
    if (c == '\'') {
      all += quote;
      continue;
    }
    if (also.find(c) != std::string_view::npos) all += '\\';
    all += c;
  }
  return all;
}

std::string for_zsh(std::string_view text) { return quoted(text, "[]:\\", R"('\'')"); }
std::string for_fish(std::string_view text) { return quoted(text, "\\", R"(\')"); }

std::string zsh_operand(completed const& one) {
  switch (one.value) {
    case operand::none: return {};
    case operand::file: return ":file:_files";
    case operand::choice: return fmt::format(":value:({})", fmt::join(one.choices, " "));
    case operand::other: return ":value: ";
  }
  return {};
}

std::string zsh_command(completed_command const& one) {
  auto text = fmt::format("    {})\n      _arguments", one.name);
  for (auto const& option : one.options) {
    for (auto const& name : option.names) {
      text += fmt::format(" \\\n        '{}[{}]{}'", name, for_zsh(option.purpose),
                          zsh_operand(option));
    }
  }
  for (auto const& argument : one.arguments)
    text += fmt::format(" \\\n        '{}'", zsh_operand(argument));
  if (one.is_followed) text += " \\\n        '*::command:_normal'";
  return text + "\n      ;;\n";
}

std::string fish_operand(completed const& one) {
  switch (one.value) {
    case operand::none: return {};
    case operand::file: return " -r -F";
    case operand::choice: return fmt::format(" -x -a '{}'", fmt::join(one.choices, " "));
    case operand::other: return " -x";
  }
  return {};
}

std::string fish_option(completed const& one) {
  std::string text;
  for (auto const& name : one.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return text + fish_operand(one) + fmt::format(" -d '{}'", for_fish(one.purpose));
}

}  // namespace

std::string bash_completion(CLI::App const& program) {
  auto const all = commands_of(program);
  auto text = bash_begin + fmt::format("    '') words='{}--help --version' ;;\n", names_of(all));
  for (auto const& one : all) text += bash_command(one);
  return text + bash_end;
}

std::string zsh_completion(CLI::App const& program) {
  auto const all = commands_of(program);
  std::string text{
      "#compdef coxswain\n# As `coxswain completion zsh` prints it.\n"
      "_coxswain() {\n  local -a commands=(\n"};
  for (auto const& one : all) text += fmt::format("    '{}:{}'\n", one.name, for_zsh(one.purpose));
  text +=
      "  )\n  if ((CURRENT == 2)); then\n    _describe subcommand commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (auto const& one : all) text += zsh_command(one);
  return text + "  esac\n}\n_coxswain \"$@\"\n";
}

std::string fish_completion(CLI::App const& program) {
  auto const all = commands_of(program);
  std::string text{"# As `coxswain completion fish` prints it.\ncomplete -c coxswain -f\n"};
  for (auto const& one : all) {
    text += fmt::format("complete -c coxswain -n __fish_use_subcommand -a {} -d '{}'\n", one.name,
                        for_fish(one.purpose));
    auto const begin =
        fmt::format("complete -c coxswain -n '__fish_seen_subcommand_from {}'", one.name);
    for (auto const& option : one.options) text += begin + fish_option(option) + '\n';
    for (auto const& argument : one.arguments) {
      if (argument.value == operand::file) text += begin + " -F\n";
      if (argument.value == operand::choice) text += begin + fish_operand(argument) + '\n';
    }
    if (one.is_followed) text += begin + " -a '(__fish_complete_subcommand --fcs-skip=2)'\n";
  }
  return text;
}

}  // namespace coxswain::tools
