#pragma once
// An etcd in this process: one store with revisions, conditions, leases and watches, reached
// through several members. Faults on request. Leases end only when a test says so.

#include "coxswain/etcd/channel.hpp"
#include "coxswain/etcd/client.hpp"
#include "coxswain/net/asio.hpp"
#include "etcd/rpc.pb.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::etcd::test {

// What becomes of a call.
struct fate {
  bool applies{true};
  bool answers{true};
  status error{};  // instead of the reply
  bool is_held{};  // applied and answered by `release`
};

class fake_etcd {
 public:
  explicit fake_etcd(asio::io_context& io, std::size_t members = 3);

  // A client of it. Calls take at most `call_timeout`.
  [[nodiscard]] std::shared_ptr<client> make_client(duration call_timeout = 200ms);

  // Decides on each unary call; the default is that all is well.
  std::function<fate(std::size_t member, std::string_view path)> judge;

  // Such a member takes nothing and says nothing; or refuses connections.
  std::vector<bool> is_silent;
  std::vector<bool> is_dead;

  // Applies what was held.
  void release();

  void revoke(std::int64_t lease);
  void compact(std::int64_t revision) { compacted_ = revision; }
  void cut_streams(std::size_t member);
  void set_token(std::string token) { token_ = std::move(token); }

  [[nodiscard]] bool has(std::string const& key) const { return keys_.count(key) > 0; }
  [[nodiscard]] std::string value(std::string const& key) const;
  [[nodiscard]] std::vector<std::string> keys(std::string const& prefix) const;
  [[nodiscard]] std::int64_t revision() const noexcept { return revision_; }
  [[nodiscard]] int calls(std::string const& path) const;

 private:
  friend class fake_channel;

  struct watcher {
    std::size_t member{};
    std::uint64_t channel{};
    std::uint64_t number{};
    std::string begin;
    std::string end;
    std::int64_t next{};
    std::weak_ptr<call_events> to;
    bool is_watch{};
  };

  void arrived(std::size_t member, std::uint64_t channel, std::uint64_t number,
               call_request const& how, std::string const& path, std::string const& token,
               std::string const& message, std::weak_ptr<call_events> to);
  void arrived_on_stream(std::uint64_t channel, std::uint64_t number, std::string const& message);
  void forget(std::uint64_t channel, std::uint64_t number);
  [[nodiscard]] call_end apply(std::string_view path, std::string const& message,
                               std::string& reply);
  status apply(etcdserverpb::TxnRequest const& what, etcdserverpb::TxnResponse& reply);
  status apply(etcdserverpb::RangeRequest const& what, etcdserverpb::RangeResponse& reply);
  void keep_alive(watcher const& on, std::string const& message);
  void remove(std::string const& begin, std::string const& end);
  void note(mvccpb::Event::EventType type, mvccpb::KeyValue kv);
  void notify_watchers();
  void fill(etcdserverpb::ResponseHeader& header) const;

  asio::io_context& io_;
  std::shared_ptr<void> exists_ = std::make_shared<char>();
  std::size_t members_;
  std::map<std::string, mvccpb::KeyValue> keys_;
  std::map<std::int64_t, std::map<std::string, mvccpb::KeyValue>> past_;
  std::vector<mvccpb::Event> events_;
  std::map<std::int64_t, std::int64_t> leases_;  // and their seconds
  std::vector<watcher> streams_;
  std::vector<std::function<void()>> held_;
  std::map<std::string, int> calls_;
  std::string token_;
  std::int64_t revision_{1};
  std::int64_t compacted_{};
  std::uint64_t channels_{};
};

// A time limit that is not reached.
inline time_point soon() { return std::chrono::steady_clock::now() + 5s; }

// Runs the coroutine to its end, at most 20 s.
template <class T>
T run(asio::io_context& io, asio::awaitable<T> what) {
  std::optional<T> result;
  std::exception_ptr failure;
  asio::co_spawn(io, std::move(what), [&](std::exception_ptr problem, T given) {
    failure = problem;
    result.emplace(std::move(given));
  });
  auto const end = std::chrono::steady_clock::now() + 20s;
  io.restart();
  while (!result && std::chrono::steady_clock::now() < end) io.run_one_for(100ms);
  if (failure) std::rethrow_exception(failure);
  if (!result) throw std::runtime_error{"it does not end"};
  return *std::move(result);
}

// Runs until `condition` holds; false after 20 s.
template <class Condition>
bool run_until(asio::io_context& io, Condition condition) {
  auto const end = std::chrono::steady_clock::now() + 20s;
  io.restart();
  while (!condition() && std::chrono::steady_clock::now() < end) io.run_one_for(10ms);
  return condition();
}

}  // namespace coxswain::etcd::test
