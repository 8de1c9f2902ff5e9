// The appendix of SEMANTICS.md is made of the tables of operations and options. With `-- --update`
// this rewrites it.

#include "options/engine_options.hpp"

#include "coxswain/client/option_rows.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/operations.hpp"
#include "coxswain/server/option_rows.hpp"
#include "coxswain/status/option_rows.hpp"

#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace coxswain::tools::appendix_rows {
namespace {

constexpr auto path = COXSWAIN_SEMANTICS;
constexpr std::string_view heading = "## Appendix: limits, roles and options\n";
constexpr std::string_view next_heading = "## Old numbers\n";

std::string content() {
  std::ifstream in{path};
  return {std::istreambuf_iterator{in}, {}};
}

std::string line_of(std::vector<std::string> const& cells) {
  return "| " + boost::algorithm::join(cells, " | ") + " |\n";
}

std::string table(std::vector<std::string> const& columns, std::string const& lines) {
  std::string rule{"|"};
  for (std::size_t i = 0; i < columns.size(); ++i) rule += "---|";
  return line_of(columns) + rule + "\n" + lines;
}

// The names of the fields of that meaning, as "key" and "entries.key".
template <class Meaning, class T>
void add_fields(std::vector<std::string>& into, std::string const& before = {}) {
  T object;
  core::record_of<T>.for_each([&]<class Row>(Row const& row) {
    using type = std::remove_cvref_t<decltype(row.of(object))>;
    auto const name = before + std::string{row.name};
    if constexpr (std::is_same_v<typename Row::meaning, Meaning>) {
      into.push_back('`' + name + '`');
    } else if constexpr (requires { requires core::described<typename type::value_type>; }) {
      add_fields<Meaning, typename type::value_type>(into, name + '.');
    }
  });
}

template <class Meaning, class Args>
std::string fields() {
  std::vector<std::string> names;
  if constexpr (core::described<Args>) add_fields<Meaning, Args>(names);
  return boost::algorithm::join(names, ", ");
}

template <class... Args>
std::string operation_lines(std::type_identity<std::variant<Args...>>) {
  std::string lines;
  auto const add = [&]<class One>(std::type_identity<One>) {
    auto const& row = core::row_of(core::request{One{}});
    lines += line_of({'`' + std::string{row.name} + '`', std::string{name(row.needed)},
                      row.is(core::trait::of_task) ? "yes" : "", row.is_stored() ? "yes" : "",
                      fields<core::as::name_t, One>(), fields<core::as::value_t, One>(),
                      std::string{row.doc}});
  };
  (add(std::type_identity<Args>{}), ...);
  return lines;
}

std::string grouped(std::uint64_t number) {
  auto digits = std::to_string(number);
  for (auto at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 2) return bytes == 1 ? "1 byte" : "0";
  std::string_view const units[] = {" bytes", " KiB", " MiB", " GiB"};
  std::size_t unit = 0;
  for (; unit < 3 && bytes >= 1024 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return grouped(bytes) + std::string{units[unit]};
}

struct option_text {
  std::string unit;
  std::string value;
  std::string least, most;  // empty: no such limit
};

template <class Value>
option_text text_of(option_facts const& is, Value const& value) {
  option_text text;
  auto const describe = [&](std::string unit, auto print, std::uint64_t number, bool is_meant) {
    text.unit = std::move(unit);
    if (is_meant) text.value = print(number);
    if (is.least.value > 0) text.least = print(static_cast<std::uint64_t>(is.least.value));
    if (is.most.value < option_facts{}.most.value)
      text.most = print(static_cast<std::uint64_t>(is.most.value));
  };
  auto const time = [](std::uint64_t ns) {
    return ns == 0 ? "0" : core::in_words(duration{static_cast<duration::rep>(ns)});
  };
  if constexpr (std::is_same_v<Value, bool>) {
    text = {"switch", "off", {}, {}};
  } else if constexpr (std::is_enum_v<Value>) {
    std::string choices{is.choices};
    boost::algorithm::replace_all(choices, " ", ", ");
    std::size_t at = 0;
    for (auto left = static_cast<unsigned>(value); left > 0; --left)
      at = is.choices.find(' ', at) + 1;
    text = {choices, std::string{is.choices.substr(at, is.choices.find(' ', at) - at)}, {}, {}};
  } else if constexpr (requires { value.has_value(); }) {
    text = text_of(is, typename Value::value_type{});
    text.value.clear();
  } else if constexpr (std::is_same_v<Value, std::string>) {
    text = {"text", value, {}, {}};
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    text = {"texts", boost::algorithm::join(value, ","), {}, {}};
  } else if constexpr (std::is_same_v<Value, time_limit>) {
    describe("time", time, static_cast<std::uint64_t>(value.count()), true);
  } else if constexpr (std::is_integral_v<Value>) {
    auto const print = is.is_size ? size_text : grouped;
    describe(is.is_size ? "bytes" : "number", print, value,
             value >= static_cast<std::uint64_t>(is.least.value));
  } else {
    describe("number", grouped, 0, false);
  }
  return text;
}

// Every option of a coordinator, as a line of the table of limits or in that of the others.
struct option_lines {
  std::string limits, others;

  template <class Rows, class Options>
  void add(Rows const& rows, Options const& defaults, bool decide) {
    std::apply([&](auto const&... row) { (add_row(row, defaults.*row.member, decide), ...); },
               rows);
  }

  template <class Row, class Value>
  void add_row(Row const& row, Value const& value, bool decides) {
    BOOST_TEST(!row.doc.empty(), row.name << " has no documentation");
    auto text = text_of(row.facts, value);
    // The documentation says it where it depends on the machine.
    if (row.doc.find("default") != std::string_view::npos) text.value.clear();
    bool const is_flag = row.group != option_group::client && row.group != option_group::internal &&
                         row.group != option_group::embedded;
    bool is_on = false;
    if constexpr (std::is_same_v<Value, bool>) is_on = value;
    auto const own = '`' + std::string{row.name} + '`';
    auto called = is_flag ? '`' + flag_of(row.name, row.facts, is_on) + '`' : own;
    if (is_flag && (is_on || !row.facts.flag.empty())) called += ", " + own;
    std::string range = text.least.empty() ? "" : "at least " + text.least;
    if (!text.most.empty())
      range = text.least.empty() ? "at most " + text.most : text.least + " to " + text.most;
    std::string doc{row.doc};
    boost::algorithm::replace_all(doc, "|", "\\|");
    bool const is_limit = row.group == option_group::limits ||
                          (row.group == option_group::internal &&
                           std::string_view{row.name}.find("_max") != std::string_view::npos);
    std::vector<std::string> cells{called, text.unit, text.value, range};
    if (row.group != option_group::client) cells.push_back(decides ? "yes" : "");
    cells.push_back(doc);
    (is_limit ? limits : others) += line_of(cells);
  }
};

std::string appendix() {
  server::options const server;
  option_lines options;
  options.add(core::option_rows, server.core, true);
  options.add(server::server_rows, server, false);
  options.add(server::tls_rows, server.tls, false);
  options.add(server::journal_rows, server.journal, false);
  options.add(server::xla_rows, server.xla, false);
  status_page::options page;
  page.listen.clear();
  options.add(status_page::option_rows, page, false);
  engine_options const engine;
  options.add(engine_rows, engine, false);
  options.add(standby_rows, engine.standby, false);
  options.add(engine_tls_rows, engine.standby.etcd.tls, false);
  client_options const client{""};
  option_lines of_client;
  of_client.add(client_rows, client, false);
  of_client.add(client_tls_rows, client.tls, false);

  std::vector<std::string> const columns{"option", "unit",    "default",
                                         "range",  "decides", "meaning"};
  return std::string{heading} +
         "\nMade of the tables in the code by `tools_test -- --update`.\n"
         "\n### Roles\n\n"
         "Each request, the least role that may make it (§3.1.4), whether it acts for a task "
         "(§3.1.2),\nand whether it is refused while nothing may be stored (§18.1.14). A name has "
         "at most\n`--key-bytes-max` bytes, a value at most `--value-bytes-max`, and the values of "
         "one barrier together\nat most `--gather-bytes-max`.\n\n" +
         table({"request", "role", "for a task", "stores", "names", "values", "meaning"},
               operation_lines(std::type_identity<core::request>{})) +
         "\n### Limits\n\n"
         "An option that *decides* is one of the core: a snapshot, a recording and the coordinator "
         "that\ncontinues or replays it must have the same.\n\n" +
         table(columns, options.limits) + "\n### Options\n\n" + table(columns, options.others) +
         "\n### Options of a client\n\n" +
         table({"option", "unit", "default", "range", "meaning"}, of_client.others) + "\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(appendix_test)

BOOST_AUTO_TEST_CASE(the_appendix_of_the_semantics_is_that_of_the_tables) {
  auto text = content();
  auto const begin = text.find(heading);
  auto const end = text.find(next_heading);
  BOOST_REQUIRE((begin < end && end != std::string::npos));
  auto const made = appendix();

  auto const& suite = boost::unit_test::framework::master_test_suite();
  if (suite.argc > 1 && std::string_view{suite.argv[1]} == "--update") {
    std::ofstream{path} << text.replace(begin, end - begin, made);
  } else {
    BOOST_TEST((text.substr(begin, end - begin) == made), "run tools_test -- --update");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::tools::appendix_rows
