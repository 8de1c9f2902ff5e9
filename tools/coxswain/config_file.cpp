#include "config_file.hpp"

#include "exit_code.hpp"
#include "machine.hpp"
#include "nearest.hpp"

#include <fmt/format.h>
#include <CLI/Config.hpp>

#include <algorithm>
#include <sstream>

namespace coxswain::tools {
namespace {

// What CLI11 gives where a section begins and ends.
bool is_border(CLI::ConfigItem const& item) { return item.name == "++" || item.name == "--"; }

program_error wrong(std::string const& path, std::string const& problem) {
  return {exit_code::usage, fmt::format("--config: '{}': {}", path, problem)};
}

std::string suggestion(std::string const& given, config_file::names const& known) {
  auto const near = nearest(given, known);
  return near.empty() ? std::string{} : fmt::format("; is '{}' meant?", near);
}

config_file::names names_of(std::map<std::string, config_file::names> const& known) {
  config_file::names all;
  for (auto const& [command, keys] : known) all.insert(command);
  return all;
}

config_file::names keys_of_all(std::map<std::string, config_file::names> const& known) {
  config_file::names all;
  for (auto const& [command, keys] : known) all.insert(keys.begin(), keys.end());
  return all;
}

// The name of the section that the item is in.
std::string section_of(CLI::ConfigItem const& item) {
  return fmt::format("{}", fmt::join(item.parents, "."));
}

// CLI11 takes what follows a # for a comment, even between quotes, and wants a list's first value
// on the line where the list begins.
bool is_cut_off(std::string const& value) {
  return value == "[" || value.starts_with('"') || value.starts_with('\'');
}

void check(std::string const& path, std::string const& section, CLI::ConfigItem const& item,
           config_file::names const& keys) {
  if (!keys.contains(item.name)) {
    auto const who = section.empty() ? "no subcommand has an" : "coxswain " + section + " has no";
    throw wrong(path, fmt::format("{} option '{}' for a file{}", who, item.name,
                                  suggestion(item.name, keys)));
  }
  auto const cut_off = std::find_if(item.inputs.begin(), item.inputs.end(), is_cut_off);
  if (cut_off == item.inputs.end()) return;
  throw wrong(path, fmt::format("the value {} of '{}' has no end on its line, without a #",
                                *cut_off, item.name));
}

// CLI11 takes whatever it finds for a key.
void check_lines(std::string const& path, std::string const& content) {
  std::istringstream lines{content};
  int number = 0;
  bool in_list = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    auto const text = CLI::detail::trim_copy(line.substr(0, line.find('#')));
    bool const is_section = text.starts_with('[') && text.ends_with(']');
    bool const is_pair = text.find('=') != std::string::npos && !text.ends_with('=');
    if (!text.empty() && !in_list && !is_section && !is_pair) {
      throw wrong(path,
                  fmt::format("line {}: '{}' is neither KEY = VALUE nor [SECTION]", number, text));
    }
    if (is_pair && !in_list)
      in_list = CLI::detail::trim_copy(text.substr(text.find('=') + 1)).starts_with('[');
    if (text.ends_with(']')) in_list = false;
  }
}

}  // namespace

config_file::config_file(std::string const& path, std::map<std::string, names> const& known) {
  auto const text = read_file(path, "--config");
  check_lines(path, text);
  std::istringstream content{text};
  auto const for_all = keys_of_all(known);
  for (auto const& item : CLI::ConfigTOML{}.from_config(content)) {
    auto const section = section_of(item);
    if (!section.empty() && !known.contains(section)) {
      throw wrong(path, fmt::format("there is no subcommand '{}', whose section this could be{}",
                                    section, suggestion(section, names_of(known))));
    }
    if (is_border(item)) continue;
    check(path, section, item, section.empty() ? for_all : known.at(section));
    if (!sections_[section].emplace(item.name, item.inputs).second) {
      throw wrong(path, fmt::format("'{}' is said twice", item.name));
    }
  }
}

config_file::values const* config_file::find(std::string const& command,
                                             std::string const& key) const {
  for (auto const& name : {command, std::string{}}) {
    auto const section = sections_.find(name);
    if (section == sections_.end()) continue;
    auto const found = section->second.find(key);
    if (found != section->second.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace coxswain::tools
