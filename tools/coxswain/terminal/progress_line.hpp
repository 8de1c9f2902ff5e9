#pragma once
// A progress line on standard output. If that is not a terminal, an occasional line.

#include "coxswain/base/time.hpp"

#include <string>

namespace coxswain::tools {

class progress_line {
 public:
  progress_line();

  // `phase` is the present activity, `state` its progress.
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
