#pragma once
// The log of a program that runs a coordinator: lines on standard error, for people or as JSON,
// written by a thread of their own. An unread standard error never blocks the program: the oldest
// lines are dropped then.

#include "coxswain/core/model/event.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace coxswain::tools {

struct log_options {
  std::string level{"info"};
  std::string format{"human"};
};

// --log-level and --log-format; `into` holds the defaults.
void add_log_options(CLI::App& to, log_options& into);

// A line of JSON without its time and level: the text, and the fields of an event.
[[nodiscard]] std::string log_json(std::string const& text);
[[nodiscard]] std::string log_json(core::event const& e);

// Throws program_error (usage): it is none.
void check_log_level(std::string const& level);

// One object, made before threads and children are, destroyed last; then the log is complete.
class log {
 public:
  // `pattern` is spdlog's, for people. "%v" is the text.
  log(log_options const& how, std::string const& pattern);
  ~log();
  log(log const&) = delete;
  log& operator=(log const&) = delete;

  // From now on.
  static void set_level(std::string const& level);

  // Waits until all lines so far are written, or 1 s if nobody reads: what is written to standard
  // error then comes after them.
  void drain() const;

  // For server::options::log.
  [[nodiscard]] std::function<void(core::event const&)> sink() const;

 private:
  class output;

  bool is_json_;
  std::shared_ptr<output> output_;
  std::shared_ptr<spdlog::logger> events_;
};

}  // namespace coxswain::tools
