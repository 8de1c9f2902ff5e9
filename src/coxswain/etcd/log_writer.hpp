#pragma once
// The log of a job, as its leader writes it: entries with consecutive numbers, each appended by one
// transaction that can be repeated safely whatever etcd has replied. At most two are under way; the
// second one requires the first, so the log has no gap. Not thread-safe. Not here: what entries
// are, gathering small ones, reading (follower).

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/etcd/client.hpp"
#include "coxswain/etcd/job_keys.hpp"
#include "coxswain/net/asio.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace coxswain::etcd {

// The longest value of one key: etcd takes requests of 1.5 MiB.
constexpr std::size_t value_bytes_max = 1024 * 1024;

class log_writer : public std::enable_shared_from_this<log_writer> {
 public:
  static constexpr std::size_t under_way_max = 2;

  // A leader whose key was created at `revision` goes on after entry `last`; earlier entries than
  // `first` were removed. `changed` is called, never from within `append`, when `durable` has grown
  // or `failure` is set.
  log_writer(std::shared_ptr<client> by, job_keys keys, std::int64_t revision, std::uint64_t first,
             std::uint64_t last, std::function<void()> changed);

  // Begins a new job: removes the log and the snapshots, and writes the head. No entry may be under
  // way. `last` becomes zero. ABORTED: this leader is deposed.
  static asio::awaitable<status> begin(std::shared_ptr<log_writer> self, std::string head);

  [[nodiscard]] bool has_room() const noexcept { return last_ - durable_ < under_way_max; }

  // Appends an entry, of at most value_bytes_max bytes; its number is `last`. There must be room.
  void append(std::string entry);

  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }

  // All entries up to this one are in the log for good.
  [[nodiscard]] std::uint64_t durable() const noexcept { return durable_; }

  // ABORTED: another coordinator leads, or this one was deposed. Others: etcd refuses entries. What
  // was under way may be in the log nevertheless.
  [[nodiscard]] status const& failure() const noexcept { return failure_; }

  // Of an append that is repeated: what etcd replied last; OK if nothing is wrong.
  [[nodiscard]] status const& trouble() const noexcept { return trouble_; }

  // Whether this leader's key is still there. Reads only. OK, ABORTED, or an error of etcd.
  static asio::awaitable<status> confirm(std::shared_ptr<log_writer> self, time_point give_up_at);

  // Writes a snapshot of the state after entry `number`, uses it from now on, and removes older
  // snapshots and the entries before it (but for the last one). Several transactions.
  static asio::awaitable<status> write_snapshot(std::shared_ptr<log_writer> self,
                                                std::uint64_t number, std::string bytes);

  // Nothing more is repeated, and `changed` is no longer called.
  void stop() noexcept { is_stopped_ = true; }

 private:
  static asio::awaitable<void> settle(std::shared_ptr<log_writer> self, std::uint64_t number,
                                      std::string entry);
  static asio::awaitable<status> write(std::shared_ptr<log_writer> self, std::string key,
                                       std::string value);
  static asio::awaitable<status> remove(std::shared_ptr<log_writer> self, std::string begin,
                                        std::string end);
  static asio::awaitable<void> pause(std::shared_ptr<log_writer> self, duration how_long);
  void settled(std::uint64_t number);
  void fail(status why);

  std::shared_ptr<client> by_;
  job_keys keys_;
  std::int64_t revision_;
  std::uint64_t first_;  // the oldest entry
  std::uint64_t last_;
  std::uint64_t durable_;
  std::set<std::uint64_t> done_;  // after `durable_`
  std::function<void()> changed_;
  status failure_;
  status trouble_;
  std::int64_t last_removal_{};  // its revision
  bool is_stopped_{};
};

}  // namespace coxswain::etcd
