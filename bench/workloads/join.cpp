// The workload `join`: a whole job begins. All connect, say hello and join; each connection sends
// its requests in steps, each of which awaits the answers to the last. Frames are made before the
// clock starts.

#include "load/connections.hpp"
#include "load/job.hpp"
#include "load/tally.hpp"
#include "workloads/workload.hpp"

#include "coxswain/core/model/messages.hpp"

#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace coxswain::bench {
namespace {

class join_load final : public load, public connections::listener {
 public:
  join_load(address server, std::unique_ptr<peer> speaks, extent size)
      : wires_{std::move(server), std::move(speaks)}, size_{size} {}

  // One storm, whatever the number, because the job can start only once.
  tally measure(std::uint64_t /*steps*/) override {
    wires_.speaks().expect({join_answer()});
    for (std::size_t session = 0; session < size_.connections; ++session) prepare(session);
    tally found;
    waiting_ = sessions_.size();
    stopwatch const watch;
    wires_.await(waiting_, 0, *this, "connections got no answer");
    watch.stop(found);
    wires_.speaks().settle();
    wires_.send_background_calls();
    found.operations = size_.tasks;
    found.latencies.resize(1);
    found.latencies[0].add(found.elapsed.count());
    found.latencies.push_back(std::move(greeted_));
    return found;
  }

 private:
  struct range {
    std::size_t first{};
    std::size_t end{};
  };
  struct session {
    std::vector<range> steps;  // of frames
    std::size_t step{};
    std::size_t to_come{};  // answers of the step
    time_point begun;
    bool is_greeted{};
  };

  void prepare(std::size_t number) {
    auto& speaks = wires_.speaks();
    auto& prepared = sessions_.emplace_back();
    auto begun = frames_.size();
    auto const ask = [&](std::optional<task_id> task, core::request what) {
      speaks.ask(frames_.open(), {number, task, frames_.size() - begun}, std::move(what));
      frames_.close(number);
    };
    auto const end_step = [&] {
      prepared.steps.push_back({begun, frames_.size()});
      begun = frames_.size();
    };
    speaks.open(number);
    if (speaks.introduce(frames_.open(), number) > 0) {
      frames_.close(number);
      end_step();
    }
    bool const joins_with_hello = size_.tasks == size_.connections;  // as connect_and_join does
    if (speaks.has_sessions() && speaks.has_hello()) {
      ask(std::nullopt, hello());
      if (!joins_with_hello) end_step();
    }
    for (auto task = number * size_.tasks / size_.connections;
         task < (number + 1) * size_.tasks / size_.connections; ++task) {
      core::join_args join{incarnation{random_()}};
      join.with_hello = joins_with_hello;
      ask(task_id{static_cast<std::uint32_t>(task)}, std::move(join));
    }
    end_step();
  }

  // This few concurrent connections fit any listener's backlog, and each sends its Hello in time.
  void before_wait() override {
    constexpr std::size_t greeting_max = 128;
    while (wires_.size() < sessions_.size() && greeting_ < greeting_max) {
      auto const number = wires_.size();
      sessions_[number].begun = now();
      ++greeting_;
      wires_.open();
      send_step(number);
    }
  }

  void send_step(std::size_t number) {
    auto& s = sessions_[number];
    auto const& next = s.steps[s.step];
    s.to_come = next.end - next.first;
    wires_.send(number, frames_.slice(next.first, next.end));
  }

  void arrived(std::size_t connection, received_frame const& frame) override {
    if (wires_.judge(connection, frame) == verdict::answer) ++answers_;
  }

  void was_read(std::size_t connection) override {
    auto const answers = std::exchange(answers_, 0);
    if (answers == 0) return;
    auto& s = sessions_[connection];
    if (answers > s.to_come) wires_.fail(connection, "it answered more often than it was asked");
    s.to_come -= answers;
    if (!std::exchange(s.is_greeted, true)) {
      --greeting_;
      greeted_.add((now() - s.begun).count());
    }
    if (s.to_come > 0) return;
    if (++s.step < s.steps.size()) {
      send_step(connection);
    } else {
      --waiting_;
    }
  }

  connections wires_;
  extent size_;
  frame_list frames_;
  std::vector<session> sessions_;
  std::size_t answers_{};   // in the current read
  std::size_t greeting_{};  // connections without an answer
  std::size_t waiting_{};   // unfinished sessions
  histogram greeted_;       // from just before the connection was opened until the first answer
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace

std::unique_ptr<load> make_join(load_plan const& plan) {
  return std::make_unique<join_load>(plan.server, make_peer(plan), plan.size);
}

}  // namespace coxswain::bench
