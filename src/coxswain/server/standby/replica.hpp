#pragma once
// The core of a standby: it has had all inputs in the log in etcd so far. Not thread-safe. Not
// here: reading them (etcd/follower), becoming the leader (standby).

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/etcd/follower.hpp"
#include "coxswain/server/journal/batch.hpp"
#include "coxswain/server/journal/core_origin.hpp"
#include "coxswain/server/journal/etcd_journal.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/wire/recording.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::server {

class replica final : public etcd::follower_events {
 public:
  // `changed` is called when the leader, or `position`, has changed; `report` with lines for the
  // log.
  replica(options const& o, std::function<void()> changed,
          std::function<void(core::severity, std::string)> report)
      : options_{o}, changed_{std::move(changed)}, report_{std::move(report)} {}

  // Everything up to this revision of etcd was taken.
  [[nodiscard]] std::int64_t position() const noexcept { return position_; }
  [[nodiscard]] etcd::leader const& leader() const noexcept { return leader_; }
  [[nodiscard]] std::uint64_t term() const noexcept { return term_; }

  // Whether it can continue the job: it has had all inputs. If not, a program with another
  // behaviour number has written some; a snapshot by that program can be read.
  [[nodiscard]] bool is_hot() const noexcept { return obstacle_.empty(); }
  [[nodiscard]] std::string const& obstacle() const noexcept { return obstacle_; }

  // Whether the job has ended after this standby had begun to follow it: done, failed or stopped.
  [[nodiscard]] bool has_seen_the_end() const;

  // Why the job cannot be continued, for the log; empty: it can, or there is none.
  [[nodiscard]] std::string why_over() const;

  // The core as of `now`; none if there is no job to continue. The replica has none afterwards.
  [[nodiscard]] std::optional<restored_core> take(time_point now);

  [[nodiscard]] log_end const& end() const noexcept { return end_; }

  // INVALID_ARGUMENT: the job's options differ from this coordinator's. DATA_LOSS: its log is
  // damaged.
  [[nodiscard]] status const& failure() const noexcept { return failure_; }

 private:
  void begins(etcd::job_state from) override;
  void entry(std::uint64_t number, std::string_view content) override;
  void is_at(std::int64_t revision, etcd::leader const& who, std::uint64_t term) override;
  void trouble(status const& why) override;

  void take_head(std::string_view head);
  void take_snapshot(etcd::job_state const& from);
  void take_batch(batch const& batch);
  void damaged(std::string text);

  options const& options_;
  std::function<void()> changed_;
  std::function<void(core::severity, std::string)> report_;
  std::optional<wire::recording_head> head_;
  std::optional<restored_core> core_;
  log_end end_;
  duration written_at_{};              // of the last batch, since 1970
  std::optional<time_point> arrived_;  // of the last batch, if it was followed
  std::string partial_;                // of a batch that is not complete
  std::string obstacle_;
  std::int64_t position_{};
  etcd::leader leader_;
  std::uint64_t term_{};
  bool was_alive_{};     // the job went on while it was followed
  bool is_following_{};  // entries are new, not those of the log at the beginning
  bool is_in_trouble_{};
  status failure_;
};

}  // namespace coxswain::server
