#pragma once
// Elections of a job's leader. A leader is fenced by the revision at which its key was created:
// each of its writes requires that the key still is that one, so a deposed leader changes nothing,
// whatever its clock says. Not thread-safe.

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/etcd/client.hpp"
#include "coxswain/etcd/job_keys.hpp"
#include "coxswain/net/asio.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::etcd {

// The leader's key.
struct leader {
  leader() = default;  // no aggregate: GCC 12, see tools/tidy.py

  std::string address;      // where its clients reach it
  std::int64_t lease{};     // which the key has
  std::int64_t revision{};  // at which the key was created; zero: there is no leader
};

struct campaign_result {
  campaign_result() = default;  // no aggregate: GCC 12, see tools/tidy.py

  status why;            // OK: somebody leads
  bool is_won{};         // this coordinator
  leader who;            // the leader
  std::uint64_t term{};  // its number
};

// Tries to become the leader, with a lease of its own. It fails with an error of etcd if it is not
// settled before `give_up_at`; it may have been won then.
asio::awaitable<campaign_result> campaign(std::shared_ptr<client> by, job_keys keys,
                                          std::string address, std::int64_t lease,
                                          time_point give_up_at);

// Removes the key of this leader and of no other: it resigns, or it is known to be dead.
asio::awaitable<status> depose(std::shared_ptr<client> by, job_keys keys, std::int64_t revision,
                               time_point give_up_at);

// The present leader, as a majority of etcd's members knows it.
struct leader_reply {
  leader_reply() = default;  // no aggregate: GCC 12, see tools/tidy.py

  status why;
  leader who;
};
asio::awaitable<leader_reply> read_leader(std::shared_ptr<client> by, job_keys keys,
                                          time_point give_up_at);

}  // namespace coxswain::etcd
