#include "token.hpp"

#include "exit_code.hpp"
#include "machine.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

namespace coxswain::tools {

CLI::Option* add_token_file(CLI::App& to, std::string& into) {
  return to
      .add_option("--token-file", into,
                  "File with the job's token (else the variable COXSWAIN_TOKEN)")
      ->type_name("FILE");
}

std::string read_token(std::string const& file) {
  if (file.empty()) {
    auto const* const variable = std::getenv("COXSWAIN_TOKEN");
    return variable == nullptr ? std::string{} : variable;
  }
  constexpr std::string_view space = " \t\r\n";
  auto const content = read_file(file, "--token-file");
  auto const begin = content.find_first_not_of(space);
  if (begin == std::string::npos) {
    throw program_error{exit_code::usage,
                        fmt::format("--token-file: '{}' holds no token, only space", file)};
  }
  return content.substr(begin, content.find_last_not_of(space) + 1 - begin);
}

}  // namespace coxswain::tools
