#pragma once
// Lives of connections: each is opened, asks in steps, each of which awaits the answers to the one
// before, and stays or is closed. Frames are made before the clock runs.

#include "connections.hpp"
#include "frame_list.hpp"
#include "histogram.hpp"
#include "peer.hpp"
#include "tally.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/core/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace coxswain::bench {

class visits final : public connections::listener {
 public:
  // What the visits of one run took, from just before the connection was opened.
  struct times {
    histogram greeted;   // until the first step was answered
    histogram finished;  // until the last one was
  };

  // Visits take place in so many `slots`, which are the connections of `wires`: the next visit of a
  // slot begins when the one before has ended.
  visits(connections& wires, peer& speaks, std::size_t slots);

  // Prepares a visit; the first belongs to the first slot, and so on round and round.
  void begin();
  // Prepares a request of the visit's current step, and ends that step.
  void ask(std::optional<task_id> task, core::request what, std::size_t model = 0);
  void end_step();
  // What is said at the end of the visit, before the connection is closed; it has no answer.
  void say_and_close(core::request what);
  void close();

  // Adds time to `found`. Throws bench_error.
  times run(tally& found);

 private:
  struct step {
    std::size_t first{};  // its frames
    std::size_t end{};
  };
  struct visit {
    std::size_t first{};  // its steps
    std::size_t end{};
    bool is_closed{};                       // at its end
    std::optional<std::size_t> last_words;  // a frame
  };
  struct slot {
    std::size_t visit{};
    std::size_t step{};
    std::size_t to_come{};  // answers of the step
    time_point begun;
  };

  void start(std::size_t index);
  void send_step(std::size_t at);
  void end_visit(std::size_t at, time_point now);
  void arrived(std::size_t connection, received_frame const& frame) override;
  void was_read(std::size_t connection) override;

  connections& wires_;
  peer& peer_;
  std::vector<slot> slots_;
  frame_list frames_;
  std::vector<step> steps_;
  std::vector<visit> visits_;
  std::size_t step_begun_{};  // the first frame of the step that is prepared
  std::size_t answers_{};     // in the reading that is under way
  std::size_t greeting_{};    // visits whose first step is not answered
  std::size_t waiting_{};     // visits that have not ended
  times took_;
};

}  // namespace coxswain::bench
