#pragma once
// One line on standard output that changes while something goes on. Where it cannot be rewritten,
// because it is no terminal, a line now and then.

#include "coxswain/base/time.hpp"

#include <string>

namespace coxswain::tools {

class progress_line {
 public:
  progress_line();

  // `phase` is what is going on, `state` how far it is.
  void show(time_point now, std::string const& phase, std::string const& state);

  // Takes the line away, where that can be done.
  void clear();

 private:
  bool is_terminal_;
  std::string phase_;
  std::string line_;
  time_point shown_at_{};
};

}  // namespace coxswain::tools
