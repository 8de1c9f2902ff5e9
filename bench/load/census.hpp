#pragma once
// The requests of each task to a coordinator, in order, from its recording; and the first
// difference between two coordinators. Not here: times.

#include "coxswain/base/ids.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {

class census {
 public:
  struct count {
    std::uint64_t frames{};
    std::uint64_t bytes{};  // with their length prefixes

    friend bool operator==(count const&, count const&) = default;
  };

  // Throws bench_error if the bytes are no recording, or its beginning is lost.
  explicit census(std::string_view recording);

  // "barrier 'step'" -> number of requests.
  [[nodiscard]] std::map<std::string, count> const& by_request() const noexcept {
    return by_request_;
  }
  [[nodiscard]] std::uint64_t connections() const noexcept { return connections_; }
  // The average number of requests that the server processed at a time.
  [[nodiscard]] double requests_per_iteration() const noexcept;

  // The first difference between the requests of a task in both, byte by byte except for the label
  // in the hello and the random incarnation in the join; none if there is none. Heartbeats
  // and AskWaiting are ignored because they depend on time. `a` and `b` name the sides.
  [[nodiscard]] static std::optional<std::string> difference(census const& one, std::string_view a,
                                                             census const& other,
                                                             std::string_view b);

 private:
  struct request {
    std::string what;
    std::string payload;  // without random parts
  };
  struct line {
    std::optional<task_id> task;
    std::vector<request> requests;
  };

  void take(connection_id from, std::string_view payload);

  std::uint64_t connections_{};
  std::uint64_t frames_{};
  std::uint64_t iterations_{};
  std::map<std::string, count> by_request_;
  std::map<std::optional<task_id>, std::vector<request>> by_task_;
  std::map<connection_id, line> lines_;
};

}  // namespace coxswain::bench
