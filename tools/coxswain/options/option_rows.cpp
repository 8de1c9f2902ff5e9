#include "options/option_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace coxswain::tools {

void add(CLI::App& to, std::string const& flag, option_facts const&, bool& into,
         std::string const& doc) {
  if (into) {
    to.add_flag_callback(
        flag, [&into] { into = false; }, doc);
  } else {
    to.add_flag(flag, into, doc);
  }
}

void add(CLI::App& to, std::string const& flag, option_facts const& is, duration& into,
         std::string const& doc) {
  add_duration(to, flag, into, doc, {duration{is.least.value}, is.may_be_forever});
}

void add(CLI::App& to, std::string const& flag, option_facts const& is, std::string& into,
         std::string const& doc) {
  auto* const made =
      to.add_option(flag, into, doc)->type_name(std::string{is.type})->capture_default_str();
  if (is.type == "FILE") made->check(readable_file_check());
}

void add(CLI::App& to, std::string const& flag, option_facts const& is,
         std::vector<std::string>& into, std::string const& doc) {
  auto* const made = to.add_option(flag, into, doc)
                         ->type_name(std::string{is.type})
                         ->delimiter(',')
                         ->allow_extra_args(false)
                         ->default_str(fmt::format("{}", fmt::join(into, ",")));
  if (is.type == "ADDRESS") made->transform(listener_check());
}

}  // namespace coxswain::tools
