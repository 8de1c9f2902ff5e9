#pragma once
// The state of a standby, as shown to operators. Plain data.

#include "coxswain/base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace coxswain::server {

struct standby_view {
  std::string job;
  std::string version;                       // of this program
  std::string leader;                        // its address; empty: nobody leads
  std::uint64_t term{};                      // of the last leader
  std::optional<std::uint64_t> lag_entries;  // in etcd and not here; none: etcd does not answer
  duration lag{};                            // since it last had all entries
  std::string obstacle;                      // to taking over; empty: there is none
};

}  // namespace coxswain::server
