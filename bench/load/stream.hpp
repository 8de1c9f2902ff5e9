#pragma once
// Request and reply on several connections, repeatedly: a fixed number of requests is outstanding,
// and each answer triggers the next request. Frames are made before the clock starts.

#include "load/connections.hpp"
#include "load/tally.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace coxswain::bench {

class stream final : public connections::listener {
 public:
  // The next request, and the kind of its expected answer.
  struct question {
    core::request what;
    std::size_t model{};
  };

  // All connections of `wires`, which must have no open request.
  stream(connections& wires, std::size_t outstanding);

  // The first latency of `found` is from a request to its answer. Throws bench_error.
  void run(std::uint64_t operations, std::function<question()> const& make, tally& found);

 private:
  struct line {
    std::size_t next{};  // the frame that is sent next
    std::size_t end{};
    std::vector<time_point> sent;  // a ring: the send times of unanswered requests
    std::uint64_t asked{};
    std::uint64_t answered{};
  };

  std::uint64_t prepare(std::uint64_t operations, std::function<question()> const& make);
  void run_prepared(tally& found);
  void send(std::size_t connection, std::size_t count, time_point now);
  void arrived(std::size_t connection, received_frame const& frame) override;
  void was_read(std::size_t connection) override;

  connections& wires_;
  std::size_t outstanding_;
  frame_list frames_;
  std::vector<line> lines_;
  std::size_t answers_{};  // in the current read
  std::size_t waiting_{};
  histogram* latency_{};
};

}  // namespace coxswain::bench
