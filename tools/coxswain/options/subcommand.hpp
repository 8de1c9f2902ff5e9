#pragma once
// A subcommand of the program on the command line, whose options are also variables and keys of a
// file: flags take precedence over variables, variables over the file, the file over defaults. It
// knows the source of each value. Not here: the content of a file (config_file).

#include "options/config_file.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::tools {

class subcommand : public CLI::App {
 public:
  subcommand(CLI::App& program, std::string const& name, std::string const& purpose);

  // --help lists only these options, in this order, and the examples; --help-all lists all.
  void shorten_help(std::vector<std::string> const& usual);
  // Those options. Empty: --help lists all.
  [[nodiscard]] std::vector<CLI::Option const*> const& usual_options() const { return usual_; }

  // Gives each option --its-name so far the variable COXSWAIN_ITS_NAME and the key its-name, and
  // offers --config and --print-config. Options that come later have neither.
  void name_variables();

  // A fallback value of an option, with its source; if there is one.
  struct origin {
    std::string value;
    std::string from;
  };
  using fallback = std::function<std::optional<origin>()>;

  // Only for --print-config: users of the option call the fallback. A variable of another name also
  // takes precedence over the file.
  enum class rank : std::uint8_t { below_file, above_file };
  void add_fallback(std::string const& option, fallback otherwise, rank where = rank::below_file);

  // --print-config was given: do nothing else.
  [[nodiscard]] bool is_asked_for_configuration() const { return print_ && print_->count() > 0; }

  // All options with their values and sources, as a table or as a file. Throws coxswain::error:
  // what a fallback throws.
  [[nodiscard]] std::string configuration() const;

  // "--linger: ..." becomes "--linger (from COXSWAIN_LINGER): ...", if that is where it came from.
  [[nodiscard]] std::string with_origin(std::string problem) const;

  // What the file says of an option now, or else its default; none if something that cannot change
  // says it, or there is no file. Throws program_error: the file is wrong.
  [[nodiscard]] std::optional<std::string> reread(std::string_view option) const;

  // The valid keys of a file for this subcommand.
  [[nodiscard]] config_file::names keys() const;
  // The variables of its options.
  [[nodiscard]] std::vector<std::string> variables() const;

 private:
  enum class source : std::uint8_t { none, command_line, variable, file };

  struct setting {
    CLI::Option* option{};
    std::string key;
    std::string variable;
    source given_by{source::none};
    fallback otherwise{};
    rank of_fallback{};
  };

  void offer_configuration();
  void complete(std::string const& file);
  void take(setting& one, source from, std::vector<std::string> const& values);
  [[nodiscard]] config_file read_file() const;
  [[nodiscard]] setting const* find(std::string_view option) const;
  [[nodiscard]] std::string from(setting const& one) const;
  [[nodiscard]] std::string table_text() const;
  [[nodiscard]] std::string file_text() const;

  std::vector<CLI::Option const*> usual_;
  std::vector<setting> settings_;
  CLI::Option* config_{};
  CLI::Option* print_{};
  std::string print_as_;
  std::string path_;
};

}  // namespace coxswain::tools
