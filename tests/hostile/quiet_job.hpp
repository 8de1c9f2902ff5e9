#pragma once
// A job that only passes barriers, with all tasks on this thread, and measures them: first
// undisturbed, then under attack.

#include "coxswain/base/time.hpp"
#include "coxswain/client/client.hpp"
#include "coxswain/net/asio.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace coxswain::hostile {

struct latencies {
  std::size_t count{};
  duration p50{};
  duration p99{};
  duration max{};
};

class quiet_job {
 public:
  // Connects and joins this many tasks. Throws the clients' errors.
  quiet_job(std::string const& address, std::size_t tasks);

  // Runs barriers one after another for this long, at least 20, and returns the time of each from
  // the first arrival to the last release. Throws the clients' errors, also if a barrier takes
  // longer than 60 s.
  latencies measure(duration how_long);

  // The number of reconnects of the clients.
  [[nodiscard]] std::size_t reconnects() const;

 private:
  template <class Step>
  void run_all(Step step);

  asio::io_context io_{1};
  std::vector<client> tasks_;
};

}  // namespace coxswain::hostile
