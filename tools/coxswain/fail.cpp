// coxswain fail: this task has failed.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include <memory>
#include <string>
#include <vector>

namespace coxswain::tools {
namespace {

constexpr std::uint32_t codes = 16;

struct fail_command {
  std::string code{name(errc::internal)};
  std::string message;
};

std::vector<std::string> code_names() {
  std::vector<std::string> names;
  for (std::uint32_t i = 1; i <= codes; ++i) names.emplace_back(name(errc_of(i)));
  return names;
}

errc code_named(std::string const& text) {
  std::uint32_t i = 1;
  while (i < codes && name(errc_of(i)) != text) ++i;
  return errc_of(i);
}

asio::awaitable<void> fail(client& c, fail_command const& given) {
  co_await c.report_error(code_named(given.code), given.message);
}

}  // namespace

void add_fail(CLI::App& program, action& chosen) {
  auto given = std::make_shared<fail_command>();
  auto& command =
      add_subcommand(program, "fail", "Says that this task has failed, and why", chosen,
                     [given] { return act([given](client& c) { return fail(c, *given); }); });
  command.add_option("MESSAGE", given->message, "What went wrong, for all to read")->required();
  command.add_option("--code", given->code, "The kind of error, as gRPC names it")
      ->type_name("CODE")
      ->check(one_of(code_names()))
      ->capture_default_str();
  command.name_variables();
  command.footer(task_help_end(
      "The job fails by it, and all tasks learn it; unless this one is recoverable: then it fails\n"
      "alone, and reset lets it join again. The command of coxswain task is trusted to end by\n"
      "itself within --kill-grace. One that just ends with another code than 0 fails as well.\n\n"
      "EXAMPLE\n  ./train || { coxswain fail \"$(tail -n 1 log)\"; exit 1; }\n\n"));
}

}  // namespace coxswain::tools
