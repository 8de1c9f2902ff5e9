#include "options/subcommand.hpp"

#include "options/exit_code.hpp"
#include "terminal/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

constexpr auto config_help =
    "Read options from this TOML file: keys are option names without the leading dashes, at the "
    "top for all subcommands or in a section named like this one. Flags override variables, which "
    "override the file";
constexpr auto help_all_help = "Print all options, and more explanations, and exit";
constexpr auto print_help =
    "Print each option with its value and source, and exit; =toml: in the format of --config";

// "--num-tasks" is COXSWAIN_NUM_TASKS.
std::string variable_of(std::string_view key) {
  std::string variable{"COXSWAIN_"};
  for (char c : key) {
    variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return variable;
}

bool is_flag(CLI::Option const& option) { return option.get_items_expected_max() == 0; }

bool is_true_or_false(std::string const& text) {
  constexpr std::array<std::string_view, 8> words{"true", "false", "on", "off",
                                                  "yes",  "no",    "1",  "0"};
  return std::find(words.begin(), words.end(), CLI::detail::to_lower(text)) != words.end();
}

// What the options themselves do not check. `given` is their names for the error.
void check(CLI::Option const& option, std::vector<std::string> const& values) {
  if (is_flag(option) && (values.size() != 1 || !is_true_or_false(values.front()))) {
    throw CLI::ValidationError(
        option.get_name(),
        fmt::format("invalid value '{}'; expected true or false", fmt::join(values, ",")));
  }
  auto const most = static_cast<std::size_t>(std::max(option.get_items_expected_max(), 1));
  if (values.empty() || values.size() > most) {
    throw CLI::ValidationError(option.get_name(),
                               fmt::format("{} values given; expected {}", values.size(),
                                           most == 1 ? "one" : "one or more"));
  }
}

std::map<std::string, config_file::names> keys_of_all(CLI::App const& program) {
  std::map<std::string, config_file::names> all;
  for (auto const* one : program.get_subcommands([](CLI::App const*) { return true; })) {
    auto keys = dynamic_cast<subcommand const&>(*one).keys();
    if (!keys.empty()) all.emplace(one->get_name(), std::move(keys));
  }
  return all;
}

std::string default_of(CLI::Option const& option) {
  return is_flag(option) ? "false" : option.get_default_str();
}

}  // namespace

subcommand::subcommand(CLI::App& program, std::string const& name, std::string const& purpose)
    : App{purpose, name, &program} {
  set_help_all_flag("--help-all", help_all_help)->group("");  // until --help is shortened
}

void subcommand::shorten_help(std::vector<std::string> const& usual) {
  set_help_all_flag("--help-all", help_all_help);
  usual_ = {get_help_ptr(), get_help_all_ptr()};
  for (auto const& name : usual) usual_.push_back(get_option(name));
}

void subcommand::name_variables() {
  for (auto* option : get_options()) {
    auto const name = option->get_name(false, false);
    bool const is_known = find(name) != nullptr || option == config_ || option == print_;
    if (is_known || !name.starts_with("--") || name.starts_with("--help")) continue;
    auto const key = name.substr(2);
    settings_.push_back({option, key, variable_of(key)});
  }
  if (config_ == nullptr) offer_configuration();
}

// CLI11 processes options in the order in which they were added. --config comes first, and gives
// the others their values from variables and the file.
void subcommand::offer_configuration() {
  config_ = add_option_function<std::string>(
                "--config", [this](std::string const& file) { complete(file); }, config_help)
                ->type_name("FILE")
                ->envname("COXSWAIN_CONFIG")
                ->force_callback();
  print_ = add_flag("--print-config", print_as_, print_help);
  auto const help = options_.begin();
  std::rotate(std::next(help), std::prev(options_.end(), 2), options_.end());
}

void subcommand::add_fallback(std::string const& option, fallback otherwise, rank where) {
  for (auto& setting : settings_) {
    if ("--" + setting.key != option) continue;
    setting.otherwise = otherwise;
    setting.of_fallback = where;
  }
}

void subcommand::complete(std::string const& file) {
  path_ = file;
  std::optional<config_file> given;
  if (!path_.empty()) given.emplace(read_file());
  for (auto& setting : settings_) {
    auto const* const variable = std::getenv(setting.variable.c_str());
    if (setting.option->count() > 0) {
      setting.given_by = source::command_line;
    } else if (variable != nullptr && *variable != '\0') {
      take(setting, source::variable, {variable});
    } else if (given && !(setting.of_fallback == rank::above_file && setting.otherwise())) {
      if (auto const* values = given->find(get_name(), setting.key))
        take(setting, source::file, *values);
    }
  }
  if (!is_asked_for_configuration()) return;
  for (auto* option : get_options()) option->required(false);
}

void subcommand::take(setting& one, source from, std::vector<std::string> const& values) {
  one.given_by = from;
  check(*one.option, values);
  one.option->add_result(values);
}

config_file subcommand::read_file() const { return {path_, keys_of_all(*get_parent())}; }

subcommand::setting const* subcommand::find(std::string_view option) const {
  for (auto const& one : settings_) {
    if (option.starts_with("--") && option.substr(2) == one.key) return &one;
  }
  return nullptr;
}

config_file::names subcommand::keys() const {
  config_file::names all;
  for (auto const& setting : settings_) all.insert(setting.key);
  return all;
}

std::vector<std::string> subcommand::variables() const {
  std::vector<std::string> all;
  for (auto const& setting : settings_) all.push_back(setting.variable);
  return all;
}

std::string subcommand::with_origin(std::string problem) const {
  auto const end = problem.find(": ");
  auto const* const one = end == std::string::npos ? nullptr : find(problem.substr(0, end));
  if (one == nullptr || one->given_by == source::none || one->given_by == source::command_line) {
    return problem;
  }
  return problem.insert(end, " (from " + from(*one) + ")");
}

std::optional<std::string> subcommand::reread(std::string_view option) const {
  auto const* const one = find(option);
  bool const may_change = one->given_by == source::file || one->given_by == source::none;
  if (path_.empty() || !may_change) return std::nullopt;
  auto const now = read_file();
  auto const* const values = now.find(get_name(), one->key);
  if (values == nullptr) return default_of(*one->option);
  check(*one->option, *values);
  return values->front();
}

std::string subcommand::from(setting const& one) const {
  switch (one.given_by) {
    case source::none: return "default";
    case source::command_line: return "flag";
    case source::variable: return "variable " + one.variable;
    case source::file: return "file " + path_;
  }
  return {};
}

std::string subcommand::configuration() const {
  if (print_as_ == "toml") return file_text();
  if (print_as_ == "true") return table_text();
  throw program_error{
      exit_code::usage,
      fmt::format("--print-config: invalid value '{}'; expected toml or nothing", print_as_)};
}

std::string subcommand::table_text() const {
  table rows{{"OPTION"}, {"VALUE"}, {"FROM"}};
  for (auto const& setting : settings_) {
    auto const other =
        setting.otherwise && setting.given_by == source::none ? setting.otherwise() : std::nullopt;
    auto value = setting.given_by == source::none
                     ? default_of(*setting.option)
                     : fmt::format("{}", fmt::join(setting.option->results(), ","));
    if (other) value = other->value;
    rows.add(
        {"--" + setting.key, value.empty() ? "-" : value, other ? other->from : from(setting)});
  }
  return rows.text();
}

// Defaults are comments.
std::string subcommand::file_text() const {
  auto text = fmt::format("[{}]\n", get_name());
  for (auto const& setting : settings_) {
    bool const is_given = setting.given_by != source::none;
    auto const other = setting.otherwise && !is_given ? setting.otherwise() : std::nullopt;
    auto const value = in_config_file(
        is_given ? setting.option->results()
                 : std::vector<std::string>{other ? other->value : default_of(*setting.option)});
    text += fmt::format("{}{} = {}  # {}\n", is_given ? "" : "# ", setting.key, value,
                        other ? other->from : from(setting));
  }
  return text;
}

}  // namespace coxswain::tools
