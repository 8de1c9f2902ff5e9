// coxswain reduce: one number of all that the tasks bring.

#include "commands.hpp"
#include "exit_code.hpp"
#include "operand.hpp"
#include "remote.hpp"
#include "value_io.hpp"

#include "coxswain/core/text.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace coxswain::tools {
namespace {

struct reduce_command {
  std::string name;
  std::string operand;
  std::string how;
  bool real{};
  duration timeout{core::timeout_default};
  std::vector<task_id> among;
};

program_error wrong_operand(reduce_command const& given, std::string_view allowed) {
  return {exit_code::usage, fmt::format("NUMBER: '{}' is not allowed; allowed {}\nsee coxswain "
                                        "reduce --help",
                                        given.operand, allowed)};
}

bool is_bitwise(reduce_command const& given) { return given.how == "and" || given.how == "or"; }

reduction reduction_of(reduce_command const& given) {
  if (given.how == "sum") return reduction::sum;
  return given.how == "min" ? reduction::min : reduction::max;
}

asio::awaitable<void> reduce_bits(client& c, reduce_command const& given, std::string bits) {
  auto const how = given.how == "and" ? bitwise::all : bitwise::any;
  auto const result = co_await c.reduce_bits(given.name, bits, how, given.timeout, given.among);
  fmt::print("{}\n", core::hexadecimal(result));
}

template <class Number>
asio::awaitable<void> reduce_numbers(client& c, reduce_command const& given, Number mine) {
  auto const how = reduction_of(given);
  auto const result = co_await c.reduce(given.name, mine, how, given.timeout, given.among);
  fmt::print("{}\n", text_of(result));
}

int reduce(reduce_command const& given) {
  if (is_bitwise(given)) {
    auto const bits = from_hexadecimal(given.operand);
    if (!bits)
      throw wrong_operand(given, "are hexadecimal digits, two for each byte, such as 00ff");
    return act([&](client& c) { return reduce_bits(c, given, *bits); });
  }
  auto const mine = parse_operand(given.operand, given.real);
  if (!mine) throw wrong_operand(given, "is a number of up to 64 bits, such as 12 or 0.5");
  return act([&](client& c) {
    return std::visit([&](auto number) { return reduce_numbers(c, given, number); }, *mine);
  });
}

constexpr auto reduce_footer =
    R"(All tasks bring integers, or all bring numbers with a fraction, which --real makes of "2" as
well. For and and or they bring bytes of the same length, in hexadecimal digits.

EXAMPLES
  sum=$(coxswain reduce loss "$loss" --how sum --real)
  mean=$(echo "$sum / $COXSWAIN_NUM_TASKS" | bc -l)
  coxswain reduce ready ff --how and

)";

}  // namespace

void add_reduce(CLI::App& program, action& chosen) {
  auto given = std::make_shared<reduce_command>();
  auto& command = add_subcommand(
      program, "reduce", "Waits until all tasks have brought a number, and prints what it makes",
      chosen, [given] { return reduce(*given); });
  command.add_option("NAME", given->name, "The barrier at which they meet")->required();
  command.add_option("NUMBER", given->operand, "What this task brings")->required();
  command.add_option("--how", given->how, "What is made of them")
      ->type_name("HOW")
      ->check(one_of({"sum", "min", "max", "and", "or"}))
      ->required();
  command.add_flag("--real", given->real,
                   "The number is a real one, even if it looks like a whole");
  add_duration(command, "--timeout", given->timeout, "How long to wait for the others",
               {.may_be_forever = true});
  add_tasks(command, "--among", given->among,
            "The tasks that take part, such as 0,2-5; all of them say the same (default: all)");
  command.name_variables();
  command.footer(task_help_end(reduce_footer));
}

}  // namespace coxswain::tools
