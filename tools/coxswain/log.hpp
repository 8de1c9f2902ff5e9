#pragma once
// The log of a program that runs a coordinator: lines on standard error, written by a thread of
// their own. A standard error that nobody reads stops no one: the oldest lines are dropped then.

#include "coxswain/core/event.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace coxswain::tools {

// --log-level; `into` holds the default.
CLI::Option* add_log_level(CLI::App& to, std::string& into);

// One object, made before threads and children are, destroyed last; then the log is complete.
class log {
 public:
  // `pattern` is spdlog's. "%v" is the text.
  log(std::string const& level, std::string const& pattern);
  ~log();
  log(log const&) = delete;
  log& operator=(log const&) = delete;

  // For server::options::log.
  [[nodiscard]] std::function<void(core::event const&)> sink() const;
};

}  // namespace coxswain::tools
