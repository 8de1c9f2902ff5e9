#pragma once
// PUBLIC. The parts of a process's environment that launchers set and this room reads. The owner
// supplies the readers: a test from a map, a program from its environment.

#include <functional>
#include <optional>
#include <string>

namespace coxswain::launch {

struct environment {
  // The value of an environment variable; none: it is not set.
  std::function<std::optional<std::string>(std::string const& name)> variable;

  // The content of a file; none: it cannot be read. Read for /etc/hosts in an Indexed Job, for
  // PBS_NODEFILE in a PBS job, and for nothing else. May be empty.
  std::function<std::optional<std::string>(std::string const& path)> file;
};

}  // namespace coxswain::launch
