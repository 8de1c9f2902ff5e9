#pragma once
// The state of a leader: its lease, its key, and the journal that requires the key. Not
// thread-safe.

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/model/event.hpp"
#include "coxswain/etcd/client.hpp"
#include "coxswain/etcd/job_keys.hpp"
#include "coxswain/etcd/lease.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/server/journal/core_origin.hpp"
#include "coxswain/server/journal/etcd_journal.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace coxswain::server {

class leadership : public std::enable_shared_from_this<leadership> {
 public:
  using reporter = std::function<void(core::severity, std::string)>;

  // `report` gets lines for the log.
  leadership(std::shared_ptr<etcd::client> by, etcd::job_keys keys,
             std::shared_ptr<etcd::lease> alive, std::int64_t revision, std::uint64_t term,
             reporter report)
      : by_{std::move(by)},
        keys_{std::move(keys)},
        alive_{std::move(alive)},
        revision_{revision},
        term_{term},
        report_{std::move(report)} {}

  [[nodiscard]] std::uint64_t term() const noexcept { return term_; }
  [[nodiscard]] std::int64_t revision() const noexcept { return revision_; }

  std::shared_ptr<etcd_journal> log;
  std::optional<restored_core> job;  // to continue; none: a new one begins

  // From now on the journal fails when another coordinator leads, or when the lease was not
  // confirmed for as long as it lives: then another one may lead soon. The log has what delays
  // inputs, and when etcd's database fills up.
  void watch();

  // Gives the leadership up, after all inputs are durable. Gives up at `give_up_at`.
  static asio::awaitable<void> resign(std::shared_ptr<leadership> self, time_point give_up_at);

  // Ends it without notifying etcd.
  void abandon();

 private:
  static asio::awaitable<void> keep_watch(std::shared_ptr<leadership> self);
  static asio::awaitable<void> watch_space(std::shared_ptr<leadership> self);
  void report_trouble();

  std::shared_ptr<etcd::client> by_;
  etcd::job_keys keys_;
  std::shared_ptr<etcd::lease> alive_;
  std::int64_t revision_;
  std::uint64_t term_;
  reporter report_;
  bool is_in_trouble_{};
  bool is_over_{};
};

}  // namespace coxswain::server
