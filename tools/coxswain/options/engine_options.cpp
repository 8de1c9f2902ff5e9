#include "options/engine_options.hpp"

#include "options/exit_code.hpp"
#include "options/option_rows.hpp"
#include "process/machine.hpp"

#include "coxswain/net/endpoint.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

constexpr std::string_view scheme = "etcd://";

std::string without_scheme(std::string const& member) {
  return member.starts_with(scheme) ? member.substr(scheme.size()) : member;
}

CLI::Validator member_check() {
  auto problem_of = [](std::string const& text) { return address_check()(without_scheme(text)); };
  return {problem_of, ""};
}

// "USER PASSWORD", on one line.
void read_login(engine_options& given) {
  auto text = read_file(given.login_file, "--engine-login");
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  auto const space = text.find(' ');
  if (space == 0 || space == std::string::npos || text.find('\n') != std::string::npos) {
    throw program_error{exit_code::usage,
                        "--engine-login: " + given.login_file + " is not one line 'USER PASSWORD'"};
  }
  given.standby.etcd.user = text.substr(0, space);
  given.standby.etcd.password = text.substr(space + 1);
}

}  // namespace

void add_engine_options(CLI::App& to, engine_options& into) {
  to.option_defaults()->group("Standby");
  add_rows(to, engine_rows, into);
  add_rows(to, standby_rows, into.standby);
  add_rows(to, engine_tls_rows, into.standby.etcd.tls);
  to.get_option("--engine")->check(member_check());
  to.get_option("--advertise")->check(address_check());
  to.option_defaults()->group("Options");
}

void complete(engine_options& given, bool insecure) {
  if (!given.is_wanted()) return;
  bool const is_open = !given.standby.etcd.tls.is_wanted() && !insecure;
  for (auto const& one : given.members) {
    auto member = net::endpoint::parse(without_scheme(one)).value();
    if (is_open && !member.is_private()) {
      throw program_error{exit_code::usage,
                          fmt::format("what is sent to etcd at {} could be read on the way: use "
                                      "--engine-ca, or allow it with --insecure",
                                      member.text())};
    }
    given.standby.etcd.members.push_back(std::move(member));
  }
  if (!given.login_file.empty()) read_login(given);
}

}  // namespace coxswain::tools
