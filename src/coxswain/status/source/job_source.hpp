#pragma once
// What a page shows: a job that runs, or a recording of one.

#include "coxswain/base/wall_time.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/server/server.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::status_page {

// When a recording's coordinator started, and the part that can be shown, counted from then.
struct recorded_time {
  wall_time started{};
  duration begins{};
  duration ends{};
};

// The queries are those of server::server.
class job_source {
 public:
  job_source() = default;
  virtual ~job_source() = default;
  job_source(job_source const&) = delete;
  job_source& operator=(job_source const&) = delete;

  [[nodiscard]] virtual core::snapshot look() const = 0;
  [[nodiscard]] virtual core::why_answer why() const = 0;
  [[nodiscard]] virtual core::events_answer events(std::optional<std::uint64_t> after,
                                                   core::severity at_least,
                                                   std::size_t last_of_each) const = 0;
  [[nodiscard]] virtual std::uint64_t last_event() const = 0;
  [[nodiscard]] virtual core::listing_answer keys(std::string const& prefix,
                                                  std::string const& after,
                                                  std::size_t most) const = 0;
  [[nodiscard]] virtual result<core::value_answer> value(std::string_view key) const = 0;
  [[nodiscard]] virtual core::barrier_history history(std::string_view barrier) const = 0;

  // The coordinator, for its health, its counters, and actions; null: it is a recording.
  [[nodiscard]] virtual server::server* running() const noexcept = 0;

  // Where the coordinator listens, for people: "b12:8476"; of a recording, empty.
  [[nodiscard]] virtual std::string address() const = 0;

  // Of a recording.
  [[nodiscard]] virtual std::optional<recorded_time> recorded() const = 0;

  // The queries of a recording are about this moment from now on; none: its end.
  virtual void go_to(std::optional<duration> moment) = 0;
};

class running_job final : public job_source {
 public:
  // It must outlive this.
  explicit running_job(server::server& job) : job_{job} {}

  [[nodiscard]] core::snapshot look() const override { return job_.look(); }
  [[nodiscard]] core::why_answer why() const override { return job_.why(); }
  [[nodiscard]] core::events_answer events(std::optional<std::uint64_t> after,
                                           core::severity at_least,
                                           std::size_t last_of_each) const override {
    return job_.events(after, at_least, last_of_each);
  }
  [[nodiscard]] std::uint64_t last_event() const override { return job_.last_event(); }
  [[nodiscard]] core::listing_answer keys(std::string const& prefix, std::string const& after,
                                          std::size_t most) const override {
    return job_.keys(prefix, after, most);
  }
  [[nodiscard]] result<core::value_answer> value(std::string_view key) const override {
    return job_.value(key);
  }
  [[nodiscard]] core::barrier_history history(std::string_view barrier) const override {
    return job_.history(barrier);
  }
  [[nodiscard]] server::server* running() const noexcept override { return &job_; }
  // A port on all addresses is shown with the host's name.
  [[nodiscard]] std::string address() const override;
  [[nodiscard]] std::optional<recorded_time> recorded() const override { return std::nullopt; }
  void go_to(std::optional<duration>) override {}

 private:
  server::server& job_;
};

}  // namespace coxswain::status_page
