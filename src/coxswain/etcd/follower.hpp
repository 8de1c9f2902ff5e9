#pragma once
// Follows a job in etcd: its present state, and then every change, in order. Not thread-safe. Not
// here: writing (log_writer, election), what entries are.

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/etcd/call.hpp"
#include "coxswain/etcd/client.hpp"
#include "coxswain/etcd/election.hpp"
#include "coxswain/etcd/job_keys.hpp"
#include "coxswain/net/asio.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::etcd {

// A state of a job, and the number of the entry after which it was saved; without a snapshot zero.
struct job_state {
  job_state() = default;  // no aggregate: GCC 12, see tools/tidy.py

  std::string head;  // empty: there is no job
  std::uint64_t number{};
  std::string snapshot;
};

// Receives what a follower reads. Exceptions propagate out of `run`.
class follower_events {
 public:
  // From here on; again when a new job has begun, or when changes were missed.
  virtual void begins(job_state from) = 0;

  // The next entry.
  virtual void entry(std::uint64_t number, std::string_view content) = 0;

  // Everything up to this revision was passed on; this is the leader then.
  virtual void is_at(std::int64_t revision, leader const& who, std::uint64_t term) = 0;

  // It cannot follow for now, and tries again.
  virtual void trouble(status const& why) = 0;

 protected:
  ~follower_events() = default;
};

// How many entries etcd has after this one. None: it has not answered before `give_up_at`.
asio::awaitable<std::optional<std::uint64_t>> count_entries_after(std::shared_ptr<client> by,
                                                                  job_keys keys,
                                                                  std::uint64_t number,
                                                                  time_point give_up_at);

class follower {
 public:
  // `to` lives until `stop`, or until `run` has ended.
  follower(std::shared_ptr<client> by, job_keys keys, follower_events& to)
      : by_{std::move(by)}, keys_{std::move(keys)}, to_{&to} {}

  // Follows until `stop`. `self` is this.
  static asio::awaitable<void> run(std::shared_ptr<follower> self);

  // Its member seems to be behind: another one is asked.
  void change_member();

  // Reads everything again.
  void begin_again();

  void stop();

 private:
  static asio::awaitable<status> read(std::shared_ptr<follower> self);
  static asio::awaitable<status> read_snapshot(std::shared_ptr<follower> self, std::string which);
  static asio::awaitable<status> read_entries(std::shared_ptr<follower> self);
  static asio::awaitable<status> watch(std::shared_ptr<follower> self);
  static asio::awaitable<bool> is_silent(std::shared_ptr<follower> self);
  status take(std::string const& message);

  std::shared_ptr<client> by_;
  job_keys keys_;
  follower_events* to_;  // null: stopped
  std::shared_ptr<call> stream_;
  std::size_t member_{};  // of the stream
  job_state state_;       // while it is read
  std::int64_t revision_{};
  std::int64_t newest_{};  // of a response that is not complete
  std::uint64_t last_{};   // entry
  leader leader_;
  std::uint64_t term_{};
  bool begins_again_{};
};

}  // namespace coxswain::etcd
