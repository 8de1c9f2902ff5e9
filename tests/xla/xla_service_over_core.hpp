#pragma once
// A coordinator's core and the xla_services before it, in virtual time, without HTTP/2. All check
// themselves after each step. The derived class handles xla_service's effects.

#include "coxswain/core/coordinator.hpp"
#include "coxswain/xla/xla_service.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::xla::test {

inline constexpr time_point t0{std::chrono::hours{1000}};
inline constexpr incarnation coordinator_self{77};

class xla_service_over_core : core_port {
 public:
  xla_service_over_core(std::uint32_t num_tasks, bool strict, core::config config, int services = 1)
      : core_{with(std::move(config), num_tasks), coordinator_self, t0} {
    core_port& port{*this};
    for (int i = 0; i < services; ++i) {
      services_.emplace_back(options(num_tasks, strict), coordinator_self, port, core_.memory());
    }
  }
  virtual ~xla_service_over_core() = default;

  // A connection that speaks gRPC, at this service.
  connection_id connect(std::size_t at = 0) {
    core::session_secret secret{};
    secret[0] = static_cast<std::uint8_t>(++secrets_);
    secret[1] = static_cast<std::uint8_t>(secrets_ >> 8);
    std::string const peer = "10.0.0.1:" + std::to_string(1000 + secrets_);
    auto const id = core_.connected(now, peer, secret);
    at_service_[id.value] = at;
    services_[at].opened(now, id, peer, secret);
    settle();
    return id;
  }

  // A call with these bytes. Returns its id, whatever the outcome.
  call_id call(connection_id on, std::string_view path, std::string_view message,
               std::optional<duration> timeout = std::nullopt, bool is_full = false) {
    call_id const id{on, next_stream_ += 2};
    service_of(on).called(now, {id, path, "grpc-c++/1.74.0 grpc-c/51.0.0 (linux; chttp2)", message,
                                timeout, is_full});
    settle();
    return id;
  }

  void cancel(call_id which, bool disowned = false) {
    service_of(which.on).cancelled(now, which, disowned);
    settle();
  }
  void close(connection_id which, core::loss how = core::loss::closed) {
    service_of(which).lost(now, which, how);
    core_.lost(now, which, how);
    settle();
  }
  void heard(connection_id from) {
    service_of(from).heard(now, from);
    settle();
  }
  void pong(connection_id from) {
    service_of(from).pong(now, from);
    settle();
  }

  // Advances the time, deadline by deadline.
  void wait_until(time_point then) {
    for (;;) {
      auto next = core_.next_deadline();
      for (auto const& service : services_) {
        if (auto const d = service.next_deadline(); d && (!next || *d < *next)) next = d;
      }
      if (!next || *next > then) break;
      now = std::max(now, *next);
      for (auto& service : services_) {
        service.begin();
        service.advance(now);
      }
      core_.advance(now);
      settle();
    }
    now = std::max(now, then);
  }
  void wait(duration d) { wait_until(now + d); }

  core::coordinator& logic() { return core_; }
  xla_service& entrance() { return services_.front(); }
  void settle() {
    std::vector<core::outgoing> messages;
    std::vector<effect> effects;
    do {
      core_.take_outgoing(messages);
      for (auto const& message : messages) {
        for (auto& service : services_) service.sent(now, message);
      }
      for (auto& service : services_) {
        service.take_effects(effects);
        for (auto& effect : effects) take(std::move(effect));
        service.check_invariants();
      }
      core_.check_invariants();
    } while (core_.unsent() != 0);
  }

  time_point now{t0};

 protected:
  virtual void take(effect what) = 0;

 private:
  static core::config with(core::config c, std::uint32_t num_tasks) {
    c.num_tasks = num_tasks;
    return c;
  }
  xla_service_options options(std::uint32_t num_tasks, bool strict) const {
    xla_service_options o;
    o.job = core_.options().job;
    o.num_tasks = num_tasks;
    o.recoverable = core_.options().recoverable;
    o.strict = strict;
    o.alive_timeout = without_limit;
    o.heartbeat_timeout = core_.options().heartbeat_timeout;
    o.session_time = core_.options().heartbeat_timeout + core_.options().reconnect_grace;
    o.reply_bytes_max = 1024 * 1024;
    o.start = t0;
    return o;
  }

  xla_service& service_of(connection_id which) { return services_[at_service_.at(which.value)]; }

  connection_id connected(time_point at, std::string peer,
                          core::session_secret const& secret) override {
    return core_.connected(at, std::move(peer), secret);
  }
  void received(time_point at, connection_id from, core::client_message&& what) override {
    core_.received(at, from, std::move(what));
  }
  void heard(time_point at, connection_id from) override { core_.heard(at, from); }
  void session_lost(time_point at, connection_id from, core::loss how) override {
    core_.lost(at, from, how);
  }

  core::coordinator core_;
  std::deque<xla_service> services_;
  std::map<std::uint64_t, std::size_t> at_service_;  // by connection
  std::uint32_t secrets_{};
  std::int32_t next_stream_{-1};
};

}  // namespace coxswain::xla::test
