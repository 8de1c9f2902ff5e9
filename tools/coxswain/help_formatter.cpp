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

}  // namespace

std::string help_formatter::make_usage(CLI::App const* app, std::string name) const {
  auto usage = CLI::Formatter::make_usage(app, name);
  // CLI11 does not tell that another command may follow.
  if (app->get_prefix_command()) usage.insert(usage.find_last_not_of('\n') + 1, " [--] CMD...");
  return usage;
}

std::string help_formatter::make_option(CLI::Option const* option, bool is_positional) const {
  auto left = option->get_name(is_positional, true);
  auto text = option->get_description();
  if (!is_positional && option->get_type_size() != 0) left += ' ' + option->get_type_name();
  if (!option->get_default_str().empty()) {
    text += " (default: " + option->get_default_str() + ")";
  } else if (option->get_required() && !is_positional) {
    text += " (required)";
  }
  return two_columns(left, text);
}

std::string help_formatter::make_subcommand(CLI::App const* command) const {
  return two_columns(command->get_name(), command->get_description());
}

}  // namespace coxswain::tools
