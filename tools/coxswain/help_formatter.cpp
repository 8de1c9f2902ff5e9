#include "help_formatter.hpp"

#include <cstddef>
#include <sstream>

namespace coxswain::tools {
namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t text_begins = 30;
constexpr std::size_t page_width = 98;

// `left`, and beside it the text in lines that fit.
std::string two_columns(std::string const& left, std::string const& text) {
  auto line = std::string(indent, ' ') + left;
  std::string all;
  auto const next_line = [&] {
    all += line + '\n';
    line.clear();
  };
  if (line.size() + 2 > text_begins) next_line();
  std::istringstream words{text};
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > page_width) next_line();
    if (line.size() < text_begins) {
      line.resize(text_begins, ' ');
    } else {
      line += ' ';
    }
    line += word;
  }
  next_line();
  return all;
}

// What stands for an option's value: "LEVEL:{info,warning}" allows two.
struct value_type {
  std::string name;
  std::string choices;
};

value_type split_type(CLI::Option const& option) {
  auto const all = option.get_type_name();
  auto const begin = all.find(":{");
  if (begin == std::string::npos) return {all, {}};
  return {all.substr(0, begin), all.substr(begin + 2, all.size() - begin - 3)};
}

}  // namespace

std::string help_formatter::make_usage(CLI::App const* app, std::string name) const {
  auto usage = CLI::Formatter::make_usage(app, name);
  // CLI11 does not tell that another command may follow.
  if (app->get_prefix_command()) usage.insert(usage.find_last_not_of('\n') + 1, " [--] CMD...");
  return usage;
}

std::string help_formatter::make_option(CLI::Option const* option, bool /*is_positional*/) const {
  return two_columns(option_head(*option), option_text(*option));
}

std::string help_formatter::make_subcommand(CLI::App const* command) const {
  return two_columns(command->get_name(), command->get_description());
}

std::string option_head(CLI::Option const& option) {
  if (option.get_positional()) return option.get_name(true);
  auto const head = option.get_name(false, true);
  auto const type = split_type(option).name;
  return option.get_type_size() == 0 || type.empty() ? head : head + ' ' + type;
}

std::string option_text(CLI::Option const& option) {
  auto text = option.get_description();
  auto const choices = option_choices(option);
  if (!choices.empty()) text += ": " + CLI::detail::join(choices, ", ");
  if (!option.get_default_str().empty()) {
    text += " (default: " + option.get_default_str() + ")";
  } else if (option.get_required() && !option.get_positional()) {
    text += " (required)";
  }
  return text;
}

std::vector<std::string> option_choices(CLI::Option const& option) {
  auto const choices = split_type(option).choices;
  return choices.empty() ? std::vector<std::string>{} : CLI::detail::split(choices, ',');
}

}  // namespace coxswain::tools
