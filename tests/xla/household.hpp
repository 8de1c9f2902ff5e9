#pragma once
// A coordinator, the door and clients of it in virtual time, without HTTP/2:
//
//   household h{2};
//   auto const c = h.connect();
//   auto const first = h.call(c, method::register_task, {.task = {{0}}, .self = incarnation{10}});
//   BOOST_TEST(h.text(first) == "waits");
//
// Each call is of the third generation, unless `h.of` says otherwise. What comes back is a line
// such as "OK", "waits" or "INTERNAL: text", and the payloads that it has.

#include "coxswain/core/coordinator.hpp"
#include "coxswain/xla/codec.hpp"
#include "coxswain/xla/door.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::xla::test {

inline constexpr time_point t0{std::chrono::hours{1000}};
inline constexpr incarnation coordinator_self{77};

class household final : core_port {
 public:
  explicit household(std::uint32_t num_tasks, bool strict = false,
                     core::config config = core::config{})
      : core_{with(std::move(config), num_tasks), coordinator_self, t0},
        door_{options(num_tasks, strict), coordinator_self, *this, core_.memory()} {}

  // A connection that speaks gRPC.
  connection_id connect() {
    core::session_secret secret{};
    secret[0] = ++secrets_;
    std::string const peer = "10.0.0.1:" + std::to_string(1000 + secrets_);
    auto const id = core_.connected(now, peer, secret);
    door_.opened(now, id, peer, secret);
    settle();
    return id;
  }

  call_id call(connection_id on, method what, request asked,
               std::optional<duration> timeout = std::nullopt) {
    if (of == generation::third && what != method::register_task && !asked.service) {
      asked.service = coordinator_self;
    }
    method_path const path{what, of};
    std::string const package = of == generation::third ? "xla.coordination" : "tensorflow";
    std::string const name{what == method::watch_tasks && of == generation::second
                               ? "WatchJobState"
                               : xla::name(what)};
    call_id const id{on, next_stream_ += 2};
    auto const message = encode_request(path, asked);
    door_.called(now, {id, "/" + package + ".CoordinationService/" + name,
                       "grpc-c++/1.74.0 grpc-c/51.0.0 (linux; chttp2)", message, timeout});
    settle();
    return id;
  }

  void cancel(call_id which, bool disowned = false) {
    door_.cancelled(now, which, disowned);
    settle();
  }
  void close(connection_id which, core::loss how = core::loss::closed) {
    door_.lost(now, which, how);
    core_.lost(now, which, how);
    settle();
  }
  void pong(connection_id from) {
    door_.pong(now, from);
    settle();
  }

  // Deadlines pass one by one until then.
  void wait_until(time_point then) {
    for (;;) {
      auto next = core_.next_deadline();
      if (auto const d = door_.next_deadline(); d && (!next || *d < *next)) next = d;
      if (!next || *next > then) break;
      now = std::max(now, *next);
      door_.begin();
      door_.advance(now);
      core_.advance(now);
      settle();
    }
    now = std::max(now, then);
  }
  void wait(duration d) { wait_until(now + d); }

  // "waits", "OK", or the code's name, a colon and the text; "gone" for what nobody called.
  std::string text(call_id which) const {
    auto const* const r = find(which);
    if (!r) return "waits";
    return r->how.ok() ? "OK" : std::string{name(r->how.code)} + ": " + r->how.text;
  }
  std::string code(call_id which) const {
    auto const whole = text(which);
    return whole.substr(0, whole.find(':'));
  }
  std::string message(call_id which) const {
    auto const* const r = find(which);
    BOOST_REQUIRE(r);
    return r->what.head + std::string{r->what.tail.view()};
  }
  outcome const& how(call_id which) const {
    auto const* const r = find(which);
    BOOST_REQUIRE(r);
    return r->how;
  }
  bool says_service(call_id which) const {
    return how(which).details.find("CoordinationServiceError") != std::string::npos;
  }
  // In which order calls were answered.
  std::size_t place(call_id which) const {
    for (std::size_t i = 0; i < replies_.size(); ++i) {
      if (replies_[i].to == which) return i;
    }
    return replies_.size();
  }

  // All tasks register, each on a connection of its own or all on `on`; with incarnation 10 + task.
  std::vector<connection_id> start(std::uint32_t num_tasks,
                                   std::optional<connection_id> on = std::nullopt) {
    std::vector<connection_id> all;
    std::vector<call_id> calls;
    for (std::uint32_t i = 0; i < num_tasks; ++i) {
      all.push_back(on.value_or(connection_id{}));
      if (!on) all.back() = connect();
      calls.push_back(call(all.back(), method::register_task, by(i)));
    }
    for (auto const one : calls) BOOST_REQUIRE_EQUAL(text(one), "OK");
    return all;
  }

  // A request of a task.
  static request by(std::uint32_t task) {
    request made;
    made.task = task_name{static_cast<std::int32_t>(task)};
    made.self = incarnation{10 + task};
    return made;
  }
  static request about(std::uint32_t task, std::string name, std::string value = {}) {
    request made = by(task);
    made.name = std::move(name);
    made.value = std::move(value);
    return made;
  }
  static request meet(std::uint32_t task, std::string name, std::int64_t counter = 0,
                      std::int64_t timeout_ms = 30'000) {
    request made = about(task, std::move(name));
    made.counter = counter;
    made.timeout_ms = timeout_ms;
    return made;
  }

  core::coordinator& brain() { return core_; }
  door& entrance() { return door_; }
  void settle() {
    std::vector<core::outgoing> messages;
    std::vector<effect> effects;
    do {
      core_.take_outgoing(messages);
      for (auto const& one : messages) door_.sent(now, one);
      door_.take_effects(effects);
      for (auto& one : effects) take(std::move(one));
      core_.check_invariants();
      door_.check_invariants();
    } while (core_.unsent() != 0);
  }

  time_point now{t0};
  generation of{generation::third};
  std::vector<connection_id> pings;
  std::vector<connection_id> farewells;
  std::vector<std::string> logged;

 private:
  static core::config with(core::config c, std::uint32_t num_tasks) {
    c.num_tasks = num_tasks;
    return c;
  }
  door_options options(std::uint32_t num_tasks, bool strict) const {
    door_options o;
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

  reply const* find(call_id which) const {
    auto const at = place(which);
    return at == replies_.size() ? nullptr : &replies_[at];
  }
  void take(effect what) {
    if (auto* const r = std::get_if<reply>(&what)) {
      BOOST_TEST((find(r->to) == nullptr));  // one reply to each call
      replies_.push_back(std::move(*r));
    } else if (auto const* const p = std::get_if<ping>(&what)) {
      pings.push_back(p->to);
    } else if (auto* const e = std::get_if<core::event>(&what)) {
      logged.push_back(std::move(e->text));
    } else {
      farewells.push_back(std::get<farewell>(what).to);
    }
  }

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
  door door_;
  std::uint8_t secrets_{};
  std::int32_t next_stream_{-1};
  std::vector<reply> replies_;
};

}  // namespace coxswain::xla::test
