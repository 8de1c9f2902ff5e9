#pragma once
// Request and reply on each of some connections, repeatedly: a fixed number of requests is
// outstanding, and each answer is followed by the next request. Frames are made before the clock
// runs.

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
  // The next request, and which of the expected answers it will have.
  struct question {
    core::request what;
    std::size_t model{};
  };

  // All connections of `wires`, which have no request open.
  stream(connections& wires, std::size_t outstanding);

  // The first latency of `found` is that from a request to its answer. Throws bench_error.
  void run(std::uint64_t operations, std::function<question()> const& make, tally& found);

 private:
  struct line {
    std::size_t next{};  // the frame that is sent next
    std::size_t end{};
    std::vector<time_point> sent;  // a ring: when the requests without an answer were sent
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
  std::size_t answers_{};  // in the reading that is under way
  std::size_t waiting_{};
  histogram* latency_{};
};

}  // namespace coxswain::bench
