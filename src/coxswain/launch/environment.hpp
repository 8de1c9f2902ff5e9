#pragma once
// PUBLIC. What a launcher gives to a process that it starts, as far as anybody here looks at it.
// The owner says how it is read: a test from a map, a program from its environment.

#include <functional>
#include <optional>
#include <string>

namespace coxswain::launch {

struct environment {
  // The value of an environment variable; none: it is not set.
  std::function<std::optional<std::string>(std::string const& name)> variable;

  // What a file holds; none: it cannot be read. Asked for /etc/hosts by the process of an Indexed
  // Job, for PBS_NODEFILE by that of a PBS job, and for nothing else. May be empty.
  std::function<std::optional<std::string>(std::string const& path)> file;
};

}  // namespace coxswain::launch
