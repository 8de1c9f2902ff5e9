#pragma once
// A recording, for a page. Not here: the replay (server/recording).

#include "coxswain/server/recording/seekable_replay.hpp"
#include "coxswain/status/source/job_source.hpp"

#include <utility>

namespace coxswain::status_page {

class recorded_job final : public job_source {
 public:
  explicit recorded_job(server::seekable_replay of) : replay_{std::move(of)} {}

  [[nodiscard]] core::snapshot look() const override;
  [[nodiscard]] core::why_answer why() const override;
  [[nodiscard]] core::events_answer events(std::optional<std::uint64_t> after,
                                           core::severity at_least,
                                           std::size_t last_of_each) const override;
  [[nodiscard]] std::uint64_t last_event() const override;
  [[nodiscard]] core::listing_answer keys(std::string const& prefix, std::string const& after,
                                          std::size_t most) const override;
  // FAILED_PRECONDITION: a recording has no values.
  [[nodiscard]] result<core::value_answer> value(std::string_view key) const override;
  [[nodiscard]] core::barrier_history history(std::string_view barrier) const override;

  [[nodiscard]] server::server* running() const noexcept override { return nullptr; }
  [[nodiscard]] std::string address() const override { return {}; }
  [[nodiscard]] std::optional<recorded_time> recorded() const override {
    return recorded_time{replay_.head().started, replay_.begins(), replay_.ends()};
  }
  void go_to(std::optional<duration> moment) override { moment_ = moment; }

 private:
  // At the moment: the replay goes there when something is asked.
  [[nodiscard]] core::coordinator const& job() const;

  mutable server::seekable_replay replay_;
  std::optional<duration> moment_;
};

}  // namespace coxswain::status_page
