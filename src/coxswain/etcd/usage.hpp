#pragma once
// How full etcd's database is. A full one takes no entries, and elects nobody.

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/etcd/client.hpp"
#include "coxswain/net/asio.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace coxswain::etcd {

struct usage {
  usage() = default;  // no aggregate: GCC 12, see tools/tidy.py

  status why;
  std::int64_t bytes{};
  std::int64_t quota{};  // before etcd 3.6, its default
};

// Of the present member. PERMISSION_DENIED: this user may not ask.
asio::awaitable<usage> read_usage(std::shared_ptr<client> by, time_point give_up_at);

}  // namespace coxswain::etcd
