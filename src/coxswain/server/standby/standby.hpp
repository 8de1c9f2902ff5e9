#pragma once
// A coordinator beside others of its job: it follows the job in etcd until there is no leader, and
// then becomes the leader if it can. Until then its peers are asked to resume elsewhere, or later.
// Not thread-safe. Not here: leading (server).

#include "coxswain/base/status.hpp"
#include "coxswain/core/model/event.hpp"
#include "coxswain/etcd/client.hpp"
#include "coxswain/etcd/follower.hpp"
#include "coxswain/etcd/job_keys.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/server/standby/leadership.hpp"
#include "coxswain/server/standby/redirector.hpp"
#include "coxswain/server/standby/replica.hpp"
#include "coxswain/server/standby/standby_view.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::server {

struct standby_options {
  etcd::client_options etcd;
  std::string address;  // where clients reach this coordinator; empty: the first listener
};

class standby : public std::enable_shared_from_this<standby> {
 public:
  using reporter = std::function<void(core::severity, std::string)>;

  // Opens the listeners. `report` gets lines for the log. Throws coxswain::error as
  // server::server's constructor does for listeners and certificates, and as etcd::client::make.
  static std::shared_ptr<standby> make(asio::io_context& io, options o, standby_options s,
                                       reporter report);

  [[nodiscard]] std::vector<std::string> const& addresses() const {
    return redirector_->addresses();
  }

  // Where clients reach this coordinator.
  void advertise(std::string address) { settings_.address = std::move(address); }

  // Follows until it leads: the result, for server::server with `inherited`. Null: it was stopped,
  // or the job that it has followed has ended. May be called again after a leadership. Throws
  // coxswain::error: INVALID_ARGUMENT, the job has other options; DATA_LOSS, its log is damaged.
  // `self` is this.
  static asio::awaitable<std::shared_ptr<leadership>> lead(std::shared_ptr<standby> self);

  // Its listeners once more, for server::server, which closes them. They keep accepting when it
  // ends.
  [[nodiscard]] std::vector<std::string> inherited() const { return redirector_->inherited(); }

  // Ends `lead`.
  void stop();

  // Its state as a follower, for operators.
  [[nodiscard]] standby_view view() const;

  // Replaces what comes from files, for its next leadership, too. Throws coxswain::error: see
  // server::reload_certificates.
  void reload_certificates() { redirector_->reload_certificates(); }
  void replace_credentials(std::vector<core::credential> by) {
    options_.core.credentials = std::move(by);
  }

 private:
  standby(asio::io_context& io, options o, standby_options s, reporter report);

  static asio::awaitable<void> wait(std::shared_ptr<standby> self, duration at_most);
  static asio::awaitable<std::shared_ptr<leadership>> await_turn(std::shared_ptr<standby> self);
  static asio::awaitable<std::shared_ptr<leadership>> campaign(std::shared_ptr<standby> self);
  static asio::awaitable<void> watch_process(std::shared_ptr<standby> self, etcd::leader of);
  static asio::awaitable<void> watch_lag(std::shared_ptr<standby> self);
  [[nodiscard]] std::shared_ptr<leadership> taken_over(std::shared_ptr<leadership> made);
  void see_leader();

  asio::io_context& io_;
  options options_;
  standby_options settings_;
  reporter report_;
  etcd::job_keys keys_;
  std::shared_ptr<redirector> redirector_;
  std::shared_ptr<etcd::client> by_;
  std::unique_ptr<replica> job_;
  std::shared_ptr<etcd::follower> following_;
  asio::steady_timer wakes_;
  std::int64_t seen_leader_{-1};  // its revision
  std::uint32_t place_{};         // where it listens, for the ids of leases
  std::optional<std::uint64_t> lag_entries_;
  time_point caught_up_at_;
  bool is_stopped_{};
};

}  // namespace coxswain::server
