#pragma once
// Hosts that lose members of an elastic job again and again wait before they are admitted again
// (§1.7.10).

#include "coxswain/base/time.hpp"

#include <map>
#include <string>
#include <vector>

namespace coxswain::core {

class host_backoff {
 public:
  // A member that ran there has failed.
  void lost(time_point now, std::string const& host);

  // When the host is admitted again; in the past if it is.
  [[nodiscard]] time_point until(std::string const& host) const;

  static void fields(auto& a, auto& s) { a(1, s.hosts_); }

 private:
  struct record {
    std::vector<time_point> losses;  // recent ones, oldest first
    time_point until;

    static void fields(auto& a, auto& s) { a.members(s.losses, s.until); }
  };

  std::map<std::string, record> hosts_;
};

}  // namespace coxswain::core
