#pragma once
// Where figures come from, in words: nobody can make much of them without.

#include <string>

namespace coxswain::bench {

struct origin {
  std::string machine;  // "AMD EPYC 7B13, 2 CPUs, 24 GiB, Linux 6.1.0-18-amd64"
  std::string program;  // "coxswain-bench 0.1.0, built by g++ 12.2.0 for release"
  std::string day;      // "2026-11-21", UTC

  [[nodiscard]] std::string text() const { return machine + "; " + program + "; " + day; }
};

// This machine, this program, today.
[[nodiscard]] origin here();

}  // namespace coxswain::bench
