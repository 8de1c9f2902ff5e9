#include "text/manual.hpp"

#include "commands/version.hpp"
#include "options/help_formatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <vector>

namespace coxswain::tools {
namespace {

// Escapes roff's special characters.
std::string literal(std::string_view text) {
  std::string all;
  for (char c : text) {
    switch (c) {
      case '\\': all += "\\e"; break;
      case '-': all += "\\-"; break;
      case '\'': all += "\\(aq"; break;
      case '`': all += "\\(ga"; break;
      case '^': all += "\\(ha"; break;
      case '~': all += "\\(ti"; break;
      case '.': all += all.empty() ? "\\&." : "."; break;
      default: all += c;
    }
  }
  return all;
}

// "EXIT CODES"
bool is_heading(std::string_view line) {
  auto const is_of_heading = [](unsigned char c) { return std::isupper(c) || c == ' '; };
  return !line.empty() && line.front() != ' ' &&
         std::all_of(line.begin(), line.end(), is_of_heading);
}

// Text as --help shows it: headings, paragraphs, and lines that are indented and stay as they are.
std::string prose(std::string const& text) {
  std::string page;
  bool is_verbatim = false;
  auto const set_verbatim = [&](bool wanted) {
    if (is_verbatim != wanted) page += wanted ? ".nf\n" : ".fi\n";
    is_verbatim = wanted;
  };
  bool is_new = false;  // a paragraph
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    bool const is_blank = line.find_first_not_of(' ') == std::string::npos;
    set_verbatim(!is_blank && line.front() == ' ');
    if (is_heading(line)) page += ".SH " + line + '\n';
    if (!is_blank && !is_heading(line)) page += (is_new ? ".PP\n" : "") + literal(line) + '\n';
    is_new = is_blank;
  }
  set_verbatim(false);
  return page;
}

// The end of --help. It may begin with its own heading.
std::string notes(std::string const& text) {
  auto const page = prose(text);
  return page.empty() || page.starts_with(".SH") ? page : ".SH NOTES\n" + page;
}

std::string tagged(std::string const& tag, std::string const& text) {
  return fmt::format(".TP\n.B {}\n{}\n", literal(tag), literal(text));
}

std::string options_of(CLI::App const& of) {
  std::string page;
  for (auto const& group : groups_of(of)) {
    std::string entries;
    for (auto const* option : of.get_options()) {
      if (option->get_group() != group || option->get_positional()) continue;
      entries += tagged(option_head(*option), option_text(*option));
    }
    bool const has_heading = group != "Options";
    if (!entries.empty()) page += (has_heading ? ".SS " + group + '\n' : std::string{}) + entries;
  }
  return page;
}

std::string arguments_of(CLI::App const& of) {
  std::string page;
  for (auto const* option : of.get_options()) {
    if (option->get_positional()) page += tagged(option_head(*option), option_text(*option));
  }
  return page.empty() ? page : ".SH ARGUMENTS\n" + page;
}

std::vector<CLI::App const*> below(CLI::App const& of, bool has_name) {
  return of.get_subcommands([has_name](CLI::App const* one) {
    return one->get_name().empty() != has_name && (!has_name || !one->get_group().empty());
  });
}

std::string subcommands_of(CLI::App const& of) {
  std::string page;
  for (auto const* one : below(of, true)) page += tagged(one->get_name(), one->get_description());
  return page.empty() ? page : ".SH SUBCOMMANDS\n" + page;
}

std::string see_also(CLI::App const& of) {
  auto const* const program = of.get_parent();
  if (program != nullptr) return ".SH SEE ALSO\n.BR coxswain (1)\n";
  std::string page{".SH SEE ALSO\n"};
  auto const all = below(of, true);
  for (auto const* one : all) {
    page += fmt::format(".BR {} (1){}\n", literal(manual_name(*one)), one == all.back() ? "" : ",");
  }
  return page;
}

std::string synopsis(CLI::App const& of) {
  auto const* const program = of.get_parent();
  auto const& as = dynamic_cast<help_formatter const&>(*of.get_formatter());
  auto usage = as.make_usage(
      &of, program == nullptr ? of.get_name() : program->get_name() + ' ' + of.get_name());
  usage.erase(0, std::string_view{"Usage: "}.size());
  usage.erase(usage.find_last_not_of('\n') + 1);
  return literal(usage);
}

}  // namespace

std::string manual_name(CLI::App const& of) {
  auto const* const program = of.get_parent();
  return program == nullptr ? of.get_name() : program->get_name() + '-' + of.get_name();
}

std::string manual_page(CLI::App const& of) {
  auto const name = manual_name(of);
  bool const is_program = of.get_parent() == nullptr;
  auto page = fmt::format(".TH {} 1 \"\" \"Coxswain {}\" \"Coxswain\"\n", literal(name), version);
  page += fmt::format(".SH NAME\n{} \\- {}\n", literal(name),
                      is_program ? "coordinates the processes of a distributed job"
                                 : literal(of.get_description()));
  page += ".SH SYNOPSIS\n" + synopsis(of) + '\n';
  if (is_program) page += ".SH DESCRIPTION\n" + prose(of.get_description());
  page += arguments_of(of) + ".SH OPTIONS\n" + options_of(of);
  for (auto const* group : below(of, false)) {
    page += ".SS " + literal(group->get_group()) + '\n' + literal(group->get_description()) + '\n' +
            options_of(*group);
  }
  return page + subcommands_of(of) + notes(of.get_footer()) + see_also(of);
}

}  // namespace coxswain::tools
