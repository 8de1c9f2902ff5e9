#pragma once
// Options as Python sees them, made of their rows: values, annotations and properties.

#include "coxswain/base/option_row.hpp"
#include "python/native/arguments.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace coxswain::python {

template <class Value>
constexpr bool is_time =
    std::is_base_of_v<duration, Value> || std::is_same_v<Value, std::optional<time_limit>>;

inline std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    auto const word = text.substr(0, text.find(' '));
    all.emplace_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return all;
}

// Which of the choices it is.
inline std::size_t choice_of(char const* name, std::string_view choices, std::string const& given) {
  std::string listed;
  auto const all = words_of(choices);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == given) return i;
    listed += (i == 0 ? "'" : i + 1 < all.size() ? ", '" : " or '") + all[i] + "'";
  }
  throw py::value_error(std::string{name} + " is " + listed + ", not '" + given + "'");
}

// A value as Python passes it: seconds, a choice's name, or one text instead of several.
template <class Value>
Value passed_value(char const* name, option_facts const& is, py::handle passed) {
  std::string const called{name};
  if constexpr (is_time<Value>) {
    return argument<timeout>({called, 0}, passed).value;
  } else if constexpr (std::is_enum_v<Value>) {
    return static_cast<Value>(
        choice_of(name, is.choices, argument<std::string>({called, 0}, passed)));
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    if (PyUnicode_Check(passed.ptr())) return {argument<std::string>({called, 0}, passed)};
    return argument<Value>({called, 0}, passed);
  } else {
    return argument<Value>({called, 0}, passed);
  }
}

// The inverse of it.
template <class Value>
py::object shown_value(option_facts const& is, Value const& value) {
  if constexpr (std::is_same_v<Value, std::optional<time_limit>>) {
    return value ? shown_value(is, *value) : py::none();
  } else if constexpr (is_time<Value>) {
    return py::cast(std::chrono::duration<double>{value}.count());
  } else if constexpr (std::is_enum_v<Value>) {
    return py::cast(words_of(is.choices).at(static_cast<std::size_t>(value)));
  } else {
    return py::cast(value);
  }
}

// Its type in Python's annotations.
template <class Value>
std::string annotation(option_facts const& is) {
  if constexpr (is_time<Value>) return "Timeout";
  if constexpr (std::is_same_v<Value, bool>) return "bool | None";
  if constexpr (std::is_same_v<Value, std::vector<std::string>>)
    return "str | Sequence[str] | None";
  if constexpr (std::is_same_v<Value, std::string>) {
    if (is.type == "ADDRESS") return "str | int | None";
    bool const is_path = is.type == "FILE" || is.type == "DIR";
    return is_path ? "str | os.PathLike[str] | None" : "str | None";
  }
  if constexpr (std::is_enum_v<Value>) {
    std::string names;
    for (auto const& one : words_of(is.choices))
      names += (names.empty() ? "\"" : ", \"") + one + '"';
    return "Literal[" + names + "] | None";
  }
  return "int | None";
}

// Name, annotation, documentation, default and flag.
template <class Row, class Value>
py::tuple described(Row const& row, Value const& value) {
  return py::make_tuple(row.name, annotation<Value>(row.facts), std::string{row.doc},
                        shown_value(row.facts, value), std::string{row.facts.flag});
}

// Defines it as a property; `part` returns the part of the options that has it.
template <class Options, class Row, class Part>
void offer_option(py::class_<Options>& of, Row const& row, Part part) {
  setting(
      of, row.name,
      [row, part](Options& o, py::object passed) {
        auto& into = part(o).*row.member;
        into = passed_value<std::remove_cvref_t<decltype(into)>>(row.name, row.facts, passed);
      },
      [row, part](Options& o) { return shown_value(row.facts, part(o).*row.member); });
}

}  // namespace coxswain::python
