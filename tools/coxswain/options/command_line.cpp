#include "options/command_line.hpp"

#include "options/exit_code.hpp"
#include "options/nearest.hpp"
#include "text/task_ranges.hpp"

#include "coxswain/net/endpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

// Replaces the first "--", which CLI11 would interpret.
constexpr auto command_follows = "\n--";

// "-n,--num-tasks" is "--num-tasks", and "COUNT" itself.
std::string shown_name(std::string const& names) {
  auto const begin = names.find("--");
  return begin == std::string::npos ? names : names.substr(begin);
}

std::string refusal(std::string const& value, std::string const& allowed) {
  return fmt::format("invalid value '{}'; {}", value, allowed);
}

[[noreturn]] void refuse(std::string const& name, std::string const& value,
                         std::string const& allowed) {
  throw CLI::ValidationError(name, refusal(value, allowed));
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number{};
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string suggestion(std::string const& near) {
  return near.empty() ? near : fmt::format("; did you mean {}?", near);
}

// Subcommands of other programs, and the command that does the same here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> subcommand_synonyms{{
    {"end", "coxswain stop"},
    {"exec", "coxswain task -- CMD..."},
    {"kill", "coxswain stop"},
    {"launch", "coxswain run -n 4 -- CMD..."},
    {"list", "coxswain jobs"},
    {"logs", "coxswain events"},
    {"ps", "coxswain jobs"},
    {"shutdown", "coxswain stop"},
    {"start", "coxswain run -n 4 -- CMD..."},
    {"tasks", "coxswain status"},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> option_synonyms{{
    {"bind", "listen"},
    {"host", "address"},
    {"name", "job"},
    {"np", "num-tasks"},
    {"nproc", "num-tasks"},
    {"ntasks", "num-tasks"},
    {"port", "listen"},
    {"server", "address"},
    {"tasks", "num-tasks"},
    {"timeout", "wait"},
    {"token", "token-file"},
    {"verbose", "log-level"},
}};

template <std::size_t Size>
std::string_view known_as(
    std::array<std::pair<std::string_view, std::string_view>, Size> const& all,
    std::string_view given) {
  auto const* const at =
      std::find_if(all.begin(), all.end(), [&](auto const& one) { return one.first == given; });
  return at == all.end() ? std::string_view{} : at->second;
}

// "coxswain put KEY VALUE": what has to be given.
std::string shortest_use(CLI::App const& of) {
  auto text = "coxswain " + of.get_name();
  for (auto const* one : of.get_options([](CLI::Option const* o) { return o->get_required(); })) {
    auto const is_short = !one->get_snames().empty();
    if (one->nonpositional())
      text += ' ' + (is_short ? "-" + one->get_snames().front() : one->get_name());
    text += ' ' + (one->nonpositional() ? one->get_type_name() : one->get_name());
  }
  return text + (of.get_prefix_command() ? " -- CMD..." : "");
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

// As it is written on a command line: 1min, 64MiB.
std::string without_space(std::string text) {
  std::erase(text, ' ');
  return text;
}

std::string shown(duration d) {
  if (d == without_limit) return "forever";
  if (d == duration{}) return "0";
  for (auto const& [size, name] : {std::pair{duration{1h}, "h"}, std::pair{duration{1min}, "min"},
                                   std::pair{duration{1s}, "s"}, std::pair{duration{1ms}, "ms"}}) {
    // 300 s is better known than 5 min, and 90 s than 1.5 min.
    if (d % size == duration{} && (d / size > 9 || size <= duration{1s})) {
      return fmt::format("{}{}", d / size, name);
    }
  }
  return without_space(text_of(d));
}

std::string shown_size(std::size_t bytes) {
  auto exact = bytes;
  auto const* name = "B";
  for (auto const* larger : {"KiB", "MiB", "GiB"}) {
    if (exact == 0 || exact % 1024 != 0) break;
    exact /= 1024;
    name = larger;
  }
  return exact < 10'000 ? fmt::format("{}{}", exact, name) : without_space(size_text(bytes));
}

}  // namespace

subcommand& add_subcommand(CLI::App& program, std::string const& name, std::string const& purpose,
                           action& chosen, action run) {
  auto const made = std::make_shared<subcommand>(program, name, purpose);
  add_subcommand(program, made, chosen, std::move(run));
  return *made;
}

void add_subcommand(CLI::App& program, std::shared_ptr<subcommand> made, action& chosen,
                    action run) {
  auto print = [&command = *made] {
    fmt::print("{}", command.configuration());
    return static_cast<int>(exit_code::ok);
  };
  // With this callback CLI11 checks the options only when this subcommand was chosen.
  made->parse_complete_callback([&chosen, run = std::move(run), print, &command = *made] {
    chosen = command.is_asked_for_configuration() ? action{print} : run;
  });
  program.add_subcommand(std::move(made));
}

void protect_command(CLI::App const& program, std::vector<std::string>& arguments) {
  if (arguments.empty()) return;
  auto const runs_it = [&](CLI::App const* one) {
    return one->get_prefix_command() && one->get_name() == arguments.front();
  };
  if (program.get_subcommands(runs_it).empty()) return;
  auto const mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark != arguments.end()) *mark = command_follows;
}

std::vector<std::string> command_in(CLI::App const& of) {
  auto remaining = of.remaining();
  if (!remaining.empty() && remaining.front() == command_follows) {
    remaining.erase(remaining.begin());
  } else if (!remaining.empty() && remaining.front().starts_with('-')) {
    throw program_error{exit_code::usage, unknown_option(of, remaining.front())};
  }
  for (auto& one : remaining) {
    if (one == command_follows) one = "--";
  }
  return remaining;
}

std::string in_plain_words(CLI::App const& of, CLI::ParseError const& problem) {
  std::string text = problem.what();
  // "Could not convert: --insecure = maybe"
  if (problem.get_name() == "ConversionError")
    text.erase(0, std::min(text.find("--"), text.size()));
  auto const name = text.substr(0, text.find_first_of(": "));
  auto const* const option = of.get_option_no_throw(name);
  if (option == nullptr) return text;
  if (problem.get_name() == "RequiredError") return fmt::format("{}: {}", text, shortest_use(of));
  if (problem.get_name() == "ExcludesError") {
    return fmt::format("{} cannot be given together with {}", name,
                       text.substr(text.rfind(' ') + 1));
  }
  bool const is_of_values =
      problem.get_name() == "ArgumentMismatch" || problem.get_name() == "ConversionError";
  if (!is_of_values) return text;
  if (option->get_items_expected_max() == 0) return name + " takes no value";
  if (option->count() > 1) {
    return fmt::format("{} is given {} times; give it once", name, option->count());
  }
  return fmt::format("{0} needs a value: {0} {1}", name, option->get_type_name());
}

std::string unknown_subcommand(CLI::App const& program, std::string const& given) {
  std::set<std::string> known;
  for (auto const* one : program.get_subcommands([](CLI::App const*) { return true; })) {
    known.insert(one->get_name());
  }
  auto const synonym = known_as(subcommand_synonyms, given);
  return fmt::format("'{}' is not a subcommand{}", given,
                     suggestion(synonym.empty() ? nearest(given, known) : std::string{synonym}));
}

std::string unknown_option(CLI::App const& of, std::string const& given) {
  auto const name = given.substr(0, given.find('='));
  std::set<std::string> known;
  auto const add_names = [&known](CLI::App const& from) {
    for (auto const* option : from.get_options()) {
      for (auto const& one : option->get_lnames()) known.insert(one);
    }
  };
  add_names(of);
  for (auto const* group : of.get_subcommands([](CLI::App const*) { return true; })) {
    if (group->get_name().empty()) add_names(*group);
  }
  auto const word =
      std::string_view{name}.substr(std::min(name.find_first_not_of('-'), name.size()));
  std::string const synonym{known_as(option_synonyms, word)};
  auto const near = known.contains(synonym) ? synonym : nearest(word, known);
  return fmt::format("unknown option {}{}", name, suggestion(near.empty() ? near : "--" + near));
}

CLI::Option* add_duration(CLI::App& to, std::string const& name, duration& into,
                          std::string const& help, duration_limits limits) {
  auto store = [name = shown_name(name), &into, limits](std::string const& text) {
    if (limits.may_be_forever && text == "forever") {
      into = without_limit;
      return;
    }
    auto const given = parse_duration(text);
    if (given && *given >= limits.least) {
      into = *given;
      return;
    }
    if (!given && is_number(text)) {
      refuse(name, text,
             fmt::format("it has no unit: write {0}s for seconds, or {0}ms, {0}min, {0}h", text));
    }
    refuse(name, text,
           fmt::format(
               "expected a number with a unit (ns, us, ms, s, min, h, d), such as 200ms or 5min{}"
               "{}",
               limits.least > duration{} ? ", at least " + shown(limits.least) : "",
               limits.may_be_forever ? ", or forever" : ""));
  };
  auto const bound = limits.least > duration{} ? "; at least " + shown(limits.least) : "";
  return to.add_option_function<std::string>(name, store, help + bound)
      ->type_name("TIME")
      ->default_str(shown(into));
}

CLI::Option* add_timeout(CLI::App& to, std::string const& name, duration& into,
                         std::string const& help) {
  return add_duration(to, name, into, help, {.may_be_forever = true});
}

CLI::Option* add_size(CLI::App& to, std::string const& name, std::size_t& into,
                      std::string const& help, std::size_t least) {
  auto store = [name = shown_name(name), &into, least](std::string const& text) {
    auto const given = parse_size(text);
    if (!given || *given < least) {
      refuse(name, text,
             fmt::format("expected a number of bytes such as 4096, 64KiB, 1.5GiB or 8G (powers of "
                         "1024), or 1MB (of 1000); at least {}",
                         least));
    }
    into = *given;
  };
  return to.add_option_function<std::string>(name, store, help)
      ->type_name("SIZE")
      ->default_str(shown_size(into));
}

CLI::Option* add_number(CLI::App& to, std::string const& name,
                        std::function<void(std::int64_t)> store, std::int64_t least,
                        std::int64_t most, std::string const& help,
                        std::string const& shown_default) {
  auto check_and_store = [name = shown_name(name), store = std::move(store), least,
                          most](std::string const& text) {
    auto const given = parse_number(text);
    if (!given || *given < least || *given > most) {
      auto const bounds = most == std::numeric_limits<std::int64_t>::max() && least >= 0
                              ? fmt::format("of {} or more", least)
                              : fmt::format("from {} to {}", least, most);
      refuse(name, text, "expected a whole number " + bounds);
    }
    store(*given);
  };
  bool const is_bounded = most != std::numeric_limits<std::int64_t>::max();
  auto const bounds = is_bounded ? fmt::format("; {} to {}", least, most) : std::string{};
  return to.add_option_function<std::string>(name, check_and_store, help + bounds)
      ->type_name("N")
      ->default_str(shown_default);
}

CLI::Option* add_tasks(CLI::App& to, std::string const& name, std::vector<task_id>& into,
                       std::string const& help) {
  auto store = [name = shown_name(name), &into](std::string const& text) {
    auto given = parse_tasks(text);
    if (!given) refuse(name, text, "expected tasks and ranges of them, such as 0,2-5");
    into = *std::move(given);
  };
  return to.add_option_function<std::string>(name, store, help)->type_name("TASKS");
}

CLI::Validator address_check() {
  auto problem_of = [](std::string const& text) {
    auto const parsed = net::endpoint::parse(text);
    return parsed ? std::string{} : parsed.error().message();
  };
  return {problem_of, ""};
}

CLI::Validator listener_check() {
  auto problem_of = [](std::string& text) {
    bool const is_port = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    if (is_port) text.insert(0, ":");
    return text.starts_with("fd://") ? std::string{} : address_check()(text);
  };
  return {problem_of, ""};
}

CLI::Validator address_list_check() {
  auto problem_of = [](std::string const& text) {
    auto const parsed = net::endpoint::parse_list(text);
    return parsed ? std::string{} : parsed.error().message();
  };
  return {problem_of, ""};
}

CLI::Validator readable_file_check() {
  auto problem_of = [](std::string const& path) {
    return ::access(path.c_str(), R_OK) == 0
               ? std::string{}
               : fmt::format("cannot read '{}': {}", path, std::strerror(errno));
  };
  return {problem_of, ""};
}

CLI::Validator one_of(std::vector<std::string> const& allowed) {
  auto problem_of = [allowed](std::string const& text) {
    if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return std::string{};
    return refusal(text, fmt::format("expected {}", fmt::join(allowed, ", ")));
  };
  return {problem_of, fmt::format("{{{}}}", fmt::join(allowed, ","))};
}

}  // namespace coxswain::tools
