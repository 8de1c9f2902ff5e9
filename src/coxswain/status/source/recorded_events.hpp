#pragma once
// A recording that lost its beginning, for a page: its events are left, and the rest cannot be
// replayed without what came before. Not here: complete recordings (recorded_job).

#include "coxswain/core/observe/event_log.hpp"
#include "coxswain/server/recording/replay.hpp"
#include "coxswain/status/source/job_source.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::status_page {

class recorded_events final : public job_source {
 public:
  // Reads all records. Throws coxswain::error: INVALID_ARGUMENT, one of them is damaged.
  explicit recorded_events(server::replay of);

  // A job without tasks, whose sentence says what was lost, and the last error.
  [[nodiscard]] core::snapshot look() const override;
  [[nodiscard]] core::why_answer why() const override;
  [[nodiscard]] core::events_answer events(std::optional<std::uint64_t> after,
                                           core::severity at_least,
                                           std::size_t last_of_each) const override {
    return until_now_->since(after, at_least, last_of_each);
  }
  [[nodiscard]] std::uint64_t last_event() const override { return until_now_->last(); }
  // None are known.
  [[nodiscard]] core::listing_answer keys(std::string const& prefix, std::string const& after,
                                          std::size_t most) const override;
  // FAILED_PRECONDITION: a recording has no values.
  [[nodiscard]] result<core::value_answer> value(std::string_view key) const override;
  [[nodiscard]] core::barrier_history history(std::string_view barrier) const override;

  [[nodiscard]] server::server* running() const noexcept override { return nullptr; }
  [[nodiscard]] std::string address() const override { return {}; }
  [[nodiscard]] std::optional<recorded_time> recorded() const override {
    return recorded_time{head_.started, begins_, ends_};
  }
  void go_to(std::optional<duration> moment) override;

 private:
  [[nodiscard]] core::job_state state() const;

  wire::recording_head head_;
  core::config config_;
  std::vector<std::pair<duration, core::event>> all_;
  duration begins_{};
  duration ends_{};
  duration moment_{};
  std::optional<core::event_log> until_now_;
};

}  // namespace coxswain::status_page
