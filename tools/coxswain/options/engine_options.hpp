#pragma once
// Coordinators of one job on several machines: etcd, which keeps the job's log, as options.

#include "coxswain/server/standby/standby.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace coxswain::tools {

struct engine_options {
  std::vector<std::string> members;  // empty: no engine
  std::string login_file;
  std::string large_values{"refuse"};  // or "volatile": those that etcd does not take
  server::standby_options standby;

  [[nodiscard]] bool is_wanted() const noexcept { return !members.empty(); }
};

// --engine and what belongs to it.
void add_engine_options(CLI::App& to, engine_options& into);

// Reads the login. To be called once. Throws program_error (usage): it cannot be read, or other
// hosts could read what is sent, without `insecure`.
void complete(engine_options& given, bool insecure);

}  // namespace coxswain::tools
