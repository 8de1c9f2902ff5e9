#include "options/token.hpp"

#include "options/exit_code.hpp"
#include "process/machine.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace coxswain::tools {
namespace {

constexpr std::string_view space = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  auto const begin = std::min(text.find_first_not_of(space), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(space) + 1);
}

std::string token_of_environment() {
  auto const* const variable = std::getenv("COXSWAIN_TOKEN");
  return variable == nullptr ? std::string{} : variable;
}

program_error no_token(std::string const& file) {
  return {exit_code::usage, fmt::format("--token-file: '{}' contains no token", file)};
}

// One non-empty line. Errors do not quote it, because it contains a secret.
result<core::credential> credential_in(std::string_view line) {
  auto const first = line.substr(0, line.find_first_of(space));
  auto const rest = trimmed(line.substr(first.size()));
  if (line.find(" #") != line.npos || line.find("\t#") != line.npos) {
    return status{errc::invalid_argument, "a comment needs a line of its own"};
  }
  auto const role = core::role_named(first);
  if (!role && rest.empty()) return core::credential{core::role::worker, std::string{line}};
  if (!role) {
    return status{errc::invalid_argument,
                  "the first word must be a role (reader, operator, worker or relay)"};
  }
  if (rest.empty()) return status{errc::invalid_argument, "the token after the role is missing"};
  return core::credential{*role, std::string{rest}};
}

program_error wrong_line(std::string const& file, int number, std::string_view problem) {
  return {exit_code::usage, fmt::format("--token-file: '{}' line {}: {}", file, number, problem)};
}

}  // namespace

std::optional<subcommand::origin> token_of_variable() {
  if (token_of_environment().empty()) return std::nullopt;
  return subcommand::origin{"(hidden)", "variable COXSWAIN_TOKEN"};
}

CLI::Option* add_token_file(CLI::App& to, std::string& into) {
  return to
      .add_option(
          "--token-file", into,
          "File with the job's token, which only its owner and group should be able to read "
          "(else the variable COXSWAIN_TOKEN)")
      ->type_name("FILE");
}

std::string read_token(std::string const& file) {
  if (file.empty()) return token_of_environment();
  auto const content = read_file(file, "--token-file");
  auto const token = trimmed(content);
  if (token.empty()) throw no_token(file);
  return std::string{token};
}

CLI::Option* add_credentials_file(CLI::App& to, std::string& into) {
  return to
      .add_option("--token-file", into,
                  "File of tokens, one per line, each after an optional role: reader, operator, "
                  "worker or relay (else the variable COXSWAIN_TOKEN, a worker's token); only its "
                  "owner and group should be able to read it")
      ->type_name("FILE");
}

std::vector<core::credential> read_credentials(std::string const& file) {
  if (!file.empty()) return credentials_in(read_file(file, "--token-file"), file);
  auto token = token_of_environment();
  if (token.empty()) return {};
  return {{core::role::worker, std::move(token)}};
}

std::vector<core::credential> credentials_in(std::string_view content, std::string const& file) {
  std::vector<core::credential> all;
  std::map<std::string, int> line_of;
  for (int number = 1; !content.empty(); ++number) {
    auto const end = content.find('\n');
    auto const line = trimmed(content.substr(0, end));
    content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    auto one = credential_in(line);
    if (!one) throw wrong_line(file, number, one.error().message());
    auto const [known, is_new] = line_of.emplace(one->token, number);
    if (!is_new) {
      throw wrong_line(file, number, fmt::format("line {} gives this token a role", known->second));
    }
    all.push_back(*std::move(one));
  }
  if (all.empty()) throw no_token(file);
  return all;
}

std::string exposure_of(std::string const& file) {
  struct stat found {};
  bool const is_exposed =
      ::stat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) && (found.st_mode & S_IROTH) != 0;
  if (!is_exposed) return {};
  return fmt::format(
      "all users of this machine can read the token in '{}' (mode {:04o}): chmod 600 {}", file,
      found.st_mode & 07777, file);
}

}  // namespace coxswain::tools
