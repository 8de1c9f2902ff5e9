#pragma once
// A leader's journal in etcd. Batches are those of file_journal; each is cut into pieces, and each
// piece is an entry of the job's log in etcd, behind a byte that says where a batch ends. While
// two entries are under way, or one and nothing waits, further inputs gather into the next batch. A
// batch is durable when etcd has all its pieces. Not thread-safe. Not here: reading
// (standby/replica), who leads.

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/etcd/client.hpp"
#include "coxswain/etcd/job_keys.hpp"
#include "coxswain/etcd/log_writer.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/server/journal/journal.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace coxswain::server {

// The first byte of an entry.
constexpr char begins_batch = 1;
constexpr char ends_batch = 2;

// Where a log ends.
struct log_end {
  std::uint64_t first{1};    // the oldest entry
  std::uint64_t entry{};     // the last one
  std::uint64_t batch{};     // the last one
  std::uint32_t checksum{};  // of it, or of the head
  duration at{};             // of its last input, since the coordinator's start
};

class etcd_journal final : public journal, public std::enable_shared_from_this<etcd_journal> {
 public:
  // Goes on at `from`, for the leader whose key was created at `revision`.
  static std::shared_ptr<etcd_journal> make(std::shared_ptr<etcd::client> by, etcd::job_keys keys,
                                            std::int64_t revision, log_end from);
  ~etcd_journal() override;

  void begin(wire::recording_head const& head) override;
  void append(wire::record const& input) override;
  [[nodiscard]] bool has_uncommitted() const noexcept override { return has_uncommitted_; }
  status commit() override;
  [[nodiscard]] std::uint64_t committed() const noexcept override { return committed_; }
  [[nodiscard]] std::uint64_t durable() const noexcept override { return durable_; }
  [[nodiscard]] bool is_immediate() const noexcept override { return false; }

  void when_changed(std::function<void()> call) override { changed_ = std::move(call); }
  status synchronize(time_point now, bool is_awaited) override;
  [[nodiscard]] std::optional<time_point> next_synchronization() const override;
  [[nodiscard]] std::optional<core::snapshot::leadership> leader(time_point now) const override;
  [[nodiscard]] bool wants_snapshot() const override;
  status write_snapshot(core::coordinator const& core, bool may_fork) override;
  [[nodiscard]] bool finish_snapshot(status& outcome) override;

  // Longer values of Puts are left out, as core::config::volatile_above; zero: none are.
  void leave_out_above(std::size_t bytes) noexcept { volatile_above_ = bytes; }

  // The leader that writes it, as shown to operators.
  void name_leader(std::string address, std::uint64_t term);

  // Etcd's database fills up: a snapshot would free some of it.
  void free_space() { needs_space_ = true; }

  // This coordinator does not lead any more, or may not: nothing further is durable.
  void fail(status why);

  [[nodiscard]] status const& failure() const noexcept { return failure_; }

  // Of appends that are repeated: what etcd replied last; OK if nothing is wrong.
  [[nodiscard]] status const& trouble() const noexcept { return writer_->trouble(); }

  // Waits until all is durable and no snapshot is being written; false if that takes longer, or the
  // journal has failed.
  static asio::awaitable<bool> drain(std::shared_ptr<etcd_journal> self, time_point give_up_at);

  [[nodiscard]] std::shared_ptr<etcd::log_writer> const& writer() const noexcept { return writer_; }

 private:
  etcd_journal(std::shared_ptr<etcd::client> by, log_end from);

  static asio::awaitable<void> begin_log(std::shared_ptr<etcd_journal> self, std::string head);
  static asio::awaitable<void> upload(std::shared_ptr<etcd_journal> self);
  void entries_changed();
  void pump();
  void seal_pending();
  void start_upload();

  struct snapshot {
    std::uint64_t entry{};  // after this one
    std::string bytes;
    bool is_under_way{};
  };
  struct batch_end {
    std::uint64_t entry{};   // the last piece
    std::uint64_t commit{};  // the last commit that the batch has
    std::size_t bytes{};     // of the batch
    time_point since{};      // its first commit
  };

  std::shared_ptr<etcd::client> by_;
  std::shared_ptr<etcd::log_writer> writer_;
  std::function<void()> changed_;
  log_end end_;          // of what is sealed
  std::string pending_;  // room for a head, and inputs
  std::optional<time_point> pending_since_;
  std::deque<std::string> pieces_;  // sealed, and not appended yet
  std::deque<batch_end> ends_;
  std::uint64_t committed_{};
  std::uint64_t durable_{};
  std::uint64_t bytes_since_snapshot_{};
  std::uint64_t entries_since_snapshot_{};
  std::uint64_t snapshot_bytes_{};
  std::optional<snapshot> snapshot_;
  status snapshot_outcome_;
  bool has_begun_{true};
  bool has_uncommitted_{};
  bool is_awaited_{};
  bool needs_space_{};
  std::size_t volatile_above_{};
  std::string leader_;
  std::uint64_t term_{};
  status failure_;
};

}  // namespace coxswain::server
