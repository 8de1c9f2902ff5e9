#pragma once
// Options of the command line, made of their rows.

#include "options/command_line.hpp"

#include "coxswain/base/option_row.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace coxswain::tools {

// Adds a flag with the facts of its row; the present value is the default.
void add(CLI::App& to, std::string const& flag, option_facts const& is, bool& into,
         std::string const& doc);
void add(CLI::App& to, std::string const& flag, option_facts const& is, duration& into,
         std::string const& doc);
void add(CLI::App& to, std::string const& flag, option_facts const& is, std::string& into,
         std::string const& doc);
void add(CLI::App& to, std::string const& flag, option_facts const& is,
         std::vector<std::string>& into, std::string const& doc);

template <std::integral Number>
void add(CLI::App& to, std::string const& flag, option_facts const& is, std::optional<Number>& into,
         std::string const& doc) {
  add_number(to, flag, into, is.least.value, doc, is.most.value);
}

template <std::integral Number>
void add(CLI::App& to, std::string const& flag, option_facts const& is, Number& into,
         std::string const& doc) {
  if constexpr (std::is_same_v<Number, std::size_t>) {
    if (is.is_size) {
      add_size(to, flag, into, doc, static_cast<std::size_t>(is.least.value));
      return;
    }
  }
  auto store = [&into](std::int64_t number) { into = static_cast<Number>(number); };
  bool const is_meant = static_cast<std::int64_t>(into) >= is.least.value;
  add_number(to, flag, store, is.least.value, is.most.value, doc,
             is_meant ? std::to_string(into) : std::string{});
}

template <class Enum>
requires std::is_enum_v<Enum>
void add(CLI::App& to, std::string const& flag, option_facts const& is, Enum& into,
         std::string const& doc) {
  auto const names = CLI::detail::split(std::string{is.choices}, ' ');
  auto store = [&into, names](std::string const& name) {
    into = static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  to.add_option_function<std::string>(flag, store, doc)
      ->type_name(std::string{is.type})
      ->check(one_of(names))
      ->default_str(names.at(static_cast<std::size_t>(into)));
}

template <class Row, class Part>
void add_row(CLI::App& to, Row const& row, Part& part) {
  auto& into = part.*row.member;
  bool is_on = false;
  if constexpr (std::is_same_v<decltype(into), bool&>) is_on = into;
  add(to, flag_of(row.name, row.facts, is_on), row.facts, into, std::string{row.doc});
}

template <class Rows, class Part>
void add_rows(CLI::App& to, Rows const& rows, Part& part) {
  std::apply([&](auto const&... row) { (add_row(to, row, part), ...); }, rows);
}

}  // namespace coxswain::tools
