#include "python/native/coordinator_options.hpp"

#include "coxswain/host/hosted_coordinator.hpp"
#include "coxswain/server/option_rows.hpp"
#include "coxswain/status/option_rows.hpp"
#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace coxswain::python {
namespace {

using options = coordinator_options;

template <class Value>
constexpr bool is_time = std::is_base_of_v<duration, Value>;

core::role role_of(std::string const& name) {
  if (auto const found = core::role_named(name)) return *found;
  throw py::value_error("a role is 'reader', 'operator' or 'worker', not '" + name + "'");
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    auto const word = text.substr(0, text.find(' '));
    all.emplace_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return all;
}

// Which of the choices it is.
std::size_t choice_of(char const* name, std::string_view choices, std::string const& given) {
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
    for (auto const& word : words_of(is.choices))
      names += (names.empty() ? "\"" : ", \"") + word + '"';
    return "Literal[" + names + "] | None";
  }
  return "int | None";
}

// Calls `use(row, part)` for each option, with the part of all options that has it.
template <class Use>
void each_option(Use use) {
  server::each_option([&](auto const& row, auto part) {
    use(
        row, [part](options & o) -> auto& { return part(o.server); });
  });
  auto const page = [](options& o) -> status_page::options& { return o.page; };
  std::apply([&](auto const&... row) { (use(row, page), ...); }, status_page::option_rows);
}

// Name, annotation, documentation and default of each, from which the dataclass is made.
py::list rows() {
  py::list all;
  options defaults;
  each_option([&](auto const& row, auto part) {
    auto const& value = part(defaults).*row.member;
    using value_type = std::remove_cvref_t<decltype(value)>;
    py::object shown = py::none();
    if constexpr (is_time<value_type>) {
      shown = py::cast(std::chrono::duration<double>{value}.count());
    } else if constexpr (std::is_enum_v<value_type>) {
      shown = py::cast(words_of(row.facts.choices).at(static_cast<std::size_t>(value)));
    } else {
      shown = py::cast(value);
    }
    all.append(py::make_tuple(row.name, annotation<value_type>(row.facts), std::string{row.doc},
                              shown, std::string{row.facts.flag}));
  });
  return all;
}

}  // namespace

std::optional<status_page::options> page_options(coordinator_options const& o) {
  if (o.page.listen.empty()) return std::nullopt;
  auto page = o.page;
  page.credentials = o.server.core.credentials;
  page.insecure = o.server.insecure;
  page.tls = o.server.tls;
  return page;
}

void bind_coordinator_options(py::module_& into) {
  py::class_<options> options_class{into, "CoordinatorOptions"};
  options_class.def(py::init<>())
      .def_static("hosting",
                  [](client_options const& client) {
                    options made;
                    made.server = hosting_options(client);
                    return made;
                  })
      .def_static("rows", &rows);
  define(options_class, "add_token", [](options& o, std::string role, std::string token) {
    o.server.core.credentials.push_back({role_of(role), std::move(token)});
  });
  setting(options_class, "record",
          [](options& o, std::string file) { o.record_file = std::move(file); });
  each_option([&](auto const& row, auto part) {
    setting(options_class, row.name, [row, part](options& o, py::object passed) {
      auto& into = part(o).*row.member;
      into = passed_value<std::remove_cvref_t<decltype(into)>>(row.name, row.facts, passed);
    });
  });
}

}  // namespace coxswain::python
