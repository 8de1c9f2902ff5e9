#include "options/config_file.hpp"

#include "options/exit_code.hpp"
#include "options/nearest.hpp"
#include "process/machine.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>

namespace coxswain::tools {
namespace {

program_error wrong(std::string const& path, std::string const& problem) {
  return {exit_code::usage, fmt::format("--config: '{}': {}", path, problem)};
}

std::string suggestion(std::string const& given, config_file::names const& known) {
  auto const near = nearest(given, known);
  return near.empty() ? std::string{} : fmt::format("; did you mean '{}'?", near);
}

std::string toml_of(toml::node const& value) {
  std::ostringstream text;
  text << toml::toml_formatter{value, toml::format_flags::none};
  return text.str();
}

// As a flag's value would be written.
std::string word_of(toml::node const& value) {
  auto const* const text = value.as_string();
  return text != nullptr ? text->get() : toml_of(value);
}

config_file::values words_of(toml::node const& value) {
  if (!value.is_array()) return {word_of(value)};
  config_file::values all;
  for (auto const& one : *value.as_array()) all.push_back(word_of(one));
  return all;
}

}  // namespace

config_file::config_file(std::string const& path, std::map<std::string, names> const& known) try {
  names commands;
  names keys_of_all;
  for (auto const& [command, keys] : known) {
    commands.insert(command);
    keys_of_all.insert(keys.begin(), keys.end());
  }
  auto const take = [&](std::string const& section, std::string const& key, names const& keys,
                        toml::node const& value) {
    if (!keys.contains(key)) {
      auto const who = section.empty() ? "no subcommand has an" : "coxswain " + section + " has no";
      throw wrong(path, fmt::format("{} option '{}' that a file can set{}", who, key,
                                    suggestion(key, keys)));
    }
    sections_[section].emplace(key, words_of(value));
  };
  for (auto const& [top, value] : toml::parse(read_file(path, "--config"))) {
    std::string const name{top.str()};
    auto const* const section = value.as_table();
    if (section == nullptr) {
      take({}, name, keys_of_all, value);
      continue;
    }
    if (!known.contains(name)) {
      throw wrong(path, fmt::format("there is no subcommand '{}', whose section this could be{}",
                                    name, suggestion(name, commands)));
    }
    for (auto const& [key, one] : *section) {
      take(name, std::string{key.str()}, known.at(name), one);
    }
  }
} catch (toml::parse_error const& problem) {
  throw wrong(path, fmt::format("line {}: {}", problem.source().begin.line, problem.description()));
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

std::string in_config_file(config_file::values const& values) {
  auto const is_bare = [](std::string const& word) {
    return word == "true" || word == "false" ||
           (!word.empty() && word.find_first_not_of("0123456789") == word.npos && word[0] != '0');
  };
  auto const given = [&](std::string const& word) {
    return is_bare(word) ? word : toml_of(toml::value<std::string>{word});
  };
  if (values.size() == 1) return given(values.front());
  std::string all;
  for (auto const& one : values) all += (all.empty() ? "" : ", ") + given(one);
  return "[" + all + "]";
}

}  // namespace coxswain::tools
