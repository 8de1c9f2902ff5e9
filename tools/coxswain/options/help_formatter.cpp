#include "options/help_formatter.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <sstream>
#include <utility>

namespace coxswain::tools {
namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t options_begin = 28;
constexpr std::size_t purposes_begin = 16;
constexpr std::size_t page_width = 79;

// The options that every subcommand has.
constexpr std::ptrdiff_t everywhere = 3;

// `left`, and the wrapped text in a second column.
std::string two_columns(std::string const& left, std::string const& text, std::size_t text_begins) {
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

// The text, wrapped. Indented and blank lines and headings stay unchanged.
std::string filled(std::string const& text) {
  auto const stands_alone = [](std::string const& line) {
    return line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ ") == std::string::npos ||
           line.front() == ' ';
  };
  std::string all;
  std::size_t column = 0;
  auto const end_line = [&] {
    if (std::exchange(column, 0) > 0) all += '\n';
  };
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (stands_alone(line)) {
      end_line();
      all += line + '\n';
      continue;
    }
    std::istringstream words{line};
    for (std::string word; words >> word;) {
      if (column + 1 + word.size() > page_width) end_line();
      all += (column > 0 ? " " : "") + word;
      column += word.size() + (column > 0 ? 1 : 0);
    }
  }
  end_line();
  return all;
}

// The placeholder of an option's value: "LEVEL:{info,warning}" allows two.
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

help_formatter::help_formatter() { label("Positionals", "Arguments"); }

std::string help_formatter::make_usage(CLI::App const* app, std::string name) const {
  auto usage = CLI::Formatter::make_usage(app, name);
  // CLI11 does not show that another command can follow.
  if (app->get_prefix_command()) usage.insert(usage.find_last_not_of('\n') + 1, " [--] CMD...");
  return usage;
}

std::string help_formatter::make_description(CLI::App const* app) const {
  return filled(app->get_description());
}

std::string help_formatter::make_help(CLI::App const* app, std::string name,
                                      CLI::AppFormatMode mode) const {
  auto text =
      make_description(app) + '\n' + make_usage(app, std::move(name)) + make_positionals(app);
  auto const groups = groups_of(*app);
  bool const has_common = !groups.empty() && groups.back() == common_options;
  for (auto const& group : groups) {
    if (group != common_options) text += options_in(*app, group);
  }
  text += make_subcommands(app, mode);
  if (has_common) text += options_in(*app, common_options);
  return text + make_footer(app);
}

std::string help_formatter::options_in(CLI::App const& app, std::string const& group) const {
  auto options = app.get_options([&group](CLI::Option const* one) {
    return one->get_group() == group && one->nonpositional();
  });
  // --help, --config and --print-config stand before the others, for CLI11's sake.
  bool const has_others = group == common_options && std::ssize(options) > everywhere;
  if (has_others) std::rotate(options.begin(), options.begin() + everywhere, options.end());
  return options.empty() ? std::string{} : make_group(group, false, options);
}

// For example options of which one must be given.
std::string help_formatter::make_expanded(CLI::App const* group) const {
  auto text = '\n' + group->get_group() + ":\n" + filled(group->get_description());
  for (auto const* option : group->get_options()) {
    if (option != group->get_help_ptr()) text += make_option(option, false);
  }
  return text;
}

std::string help_formatter::make_footer(CLI::App const* app) const {
  return '\n' + filled(app->get_footer());
}

std::string help_formatter::make_option(CLI::Option const* option, bool /*is_positional*/) const {
  return two_columns(option_head(*option), option_text(*option), options_begin);
}

std::string help_formatter::make_subcommand(CLI::App const* command) const {
  return two_columns(command->get_name(), command->get_description(), purposes_begin);
}

std::vector<std::string> groups_of(CLI::App const& app) {
  auto groups = app.get_groups();
  std::stable_partition(groups.begin(), groups.end(),
                        [](std::string const& one) { return one != common_options; });
  std::erase(groups, std::string{});
  return groups;
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
