#include "options/help_formatter.hpp"

#include "options/subcommand.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

// The paragraph of the footer that begins so, with an empty line after it.
std::string examples_in(std::string_view footer) {
  auto const begin = footer.find("\nEXAMPLE");
  if (begin == footer.npos) return {};
  auto const end = footer.find("\n\n", begin);
  return std::string{footer.substr(begin, end - begin)} + "\n\n";
}

}  // namespace

std::string help_formatter::make_help(CLI::App const* of, std::string name,
                                      CLI::AppFormatMode mode) const {
  auto const* const command = dynamic_cast<subcommand const*>(of);
  bool const is_short =
      mode == CLI::AppFormatMode::Normal && command != nullptr && !command->usual_options().empty();
  if (!is_short) return Formatter::make_help(of, std::move(name), mode);
  auto const is_option = [](CLI::Option const* one) { return one->nonpositional(); };
  return make_description(of) + make_usage(of, name) + make_positionals(of) +
         make_group("Options", false, command->usual_options()) + examples_in(of->get_footer()) +
         fmt::format("{} --help-all lists all {} options and explains more.\n", name,
                     of->get_options(is_option).size());
}

}  // namespace coxswain::tools
