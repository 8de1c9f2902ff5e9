// The workloads `join`: all tasks of a job start at once, connect, send hello and join, until all
// know that the job has started; then they are idle, and the server's memory is measured. And
// `churn`: repeated connections, each with hello, join, leave, bye and close.

#include "load/connections.hpp"
#include "load/job.hpp"
#include "workloads/workload.hpp"

#include "coxswain/core/model/messages.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace coxswain::bench {
namespace {

// Connection lifetimes: each connection is opened, sends requests in steps, each of which awaits
// the answers to the last, and stays open or is closed. Frames are made before the clock starts.
class visits final : public connections::listener {
 public:
  // The times of the visits of one run, from just before the connection was opened.
  struct times {
    histogram greeted;   // until the first answer
    histogram finished;  // until the last one was
  };

  // Visits use `slots`, which are the connections of `wires`: the next visit of a slot starts when
  // the last has ended.
  visits(connections& wires, std::size_t slots) : wires_{wires}, slots_(slots) {}

  // Prepares a visit; visits are assigned to slots round-robin.
  void begin() {
    wires_.speaks().open(visits_.size() % slots_.size());
    visits_.push_back({steps_.size(), steps_.size(), false, std::nullopt});
  }
  // Prepares what its connection begins with, a step of its own if that is answered.
  void introduce() {
    auto const connection = (visits_.size() - 1) % slots_.size();
    auto const answers = wires_.speaks().introduce(frames_.open(), connection);
    if (answers == 0) return;
    frames_.close(connection);
    end_step();
  }
  // Prepares a request of the visit's current step, and ends that step.
  void ask(std::optional<task_id> task, core::request what, std::size_t model = 0) {
    auto const connection = (visits_.size() - 1) % slots_.size();
    auto const unanswered = frames_.size() - step_begun_;
    wires_.speaks().ask(frames_.open(), {connection, task, unanswered, model}, std::move(what));
    frames_.close(connection);
  }
  void end_step() {
    steps_.push_back({step_begun_, frames_.size()});
    step_begun_ = frames_.size();
    visits_.back().end = steps_.size();
  }
  // The connection is closed at the end; the last messages have no answer.
  void close(std::optional<core::request> last_words) {
    visits_.back().is_closed = true;
    if (!last_words) return;
    visits_.back().last_words = frames_.size();
    ask(std::nullopt, *std::move(last_words));
    step_begun_ = frames_.size();
  }

  // Adds time to `found`. Throws bench_error.
  times run(tally& found);

 private:
  struct range {
    std::size_t first{};
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
    bool is_greeted{};
  };

  void start(std::size_t index);
  void send_step(std::size_t at);
  void end_visit(std::size_t at, time_point now);
  void arrived(std::size_t connection, received_frame const& frame) override {
    if (wires_.judge(connection, frame) == verdict::answer) ++answers_;
  }
  void was_read(std::size_t connection) override;
  void before_wait() override;

  connections& wires_;
  std::vector<slot> slots_;
  frame_list frames_;
  std::vector<range> steps_;  // of frames
  std::vector<visit> visits_;
  std::size_t step_begun_{};  // the first frame of the prepared step
  std::size_t answers_{};     // in the current read
  std::size_t started_{};     // first visits in their slots
  std::size_t greeting_{};    // visits without an answer
  std::size_t waiting_{};     // unfinished visits
  times took_;
};

visits::times visits::run(tally& found) {
  waiting_ = visits_.size();
  started_ = 0;
  stopwatch const watch;
  wires_.await(waiting_, 0, *this, "connections got no answer");
  watch.stop(found);
  wires_.speaks().settle();
  frames_.clear();
  steps_.clear();
  visits_.clear();
  step_begun_ = 0;
  return std::exchange(took_, {});
}

// This few concurrent connections fit any listener's backlog, and each sends its Hello in time.
void visits::before_wait() {
  constexpr std::size_t greeting_max = 128;
  auto const first_ones = std::min(slots_.size(), visits_.size());
  while (started_ < first_ones && greeting_ < greeting_max) start(started_++);
}

void visits::start(std::size_t index) {
  auto const at = index % slots_.size();
  slots_[at] = {index, visits_[index].first, 0, now(), false};
  ++greeting_;
  if (at == wires_.size())
    wires_.open();
  else
    wires_.open_again(at);
  send_step(at);
}

void visits::send_step(std::size_t at) {
  auto& s = slots_[at];
  auto const& next = steps_[s.step];
  s.to_come = next.end - next.first;
  wires_.send(at, frames_.slice(next.first, next.end));
}

void visits::was_read(std::size_t connection) {
  auto const answers = std::exchange(answers_, 0);
  if (answers == 0) return;
  auto& s = slots_[connection];
  if (answers > s.to_come) wires_.fail(connection, "it answered more often than it was asked");
  s.to_come -= answers;
  if (s.is_greeted && s.to_come > 0) return;

  auto const at = now();
  if (!std::exchange(s.is_greeted, true)) {
    --greeting_;
    took_.greeted.add((at - s.begun).count());
  }
  if (s.to_come > 0) return;
  if (++s.step < visits_[s.visit].end)
    send_step(connection);
  else
    end_visit(connection, at);
}

void visits::end_visit(std::size_t at, time_point now) {
  auto const& s = slots_[at];
  auto const& v = visits_[s.visit];
  took_.finished.add((now - s.begun).count());
  --waiting_;
  if (v.last_words) wires_.send(at, frames_.slice(*v.last_words, *v.last_words + 1));
  if (v.is_closed) wires_.close(at);
  if (auto const next = s.visit + slots_.size(); next < visits_.size()) start(next);
}

class join_load final : public load {
 public:
  join_load(address server, std::unique_ptr<peer> speaks, extent size)
      : wires_{std::move(server), std::move(speaks)}, size_{size} {}

  // One storm, whatever the number, because the job can start only once.
  tally measure(std::uint64_t /*steps*/) override {
    visits storm{wires_, size_.connections};
    wires_.speaks().expect({join_answer()});
    bool const joins_with_hello = size_.tasks == size_.connections;  // as connect_and_join does
    std::uint32_t task = 0;
    for (std::size_t session = 0; session < size_.connections; ++session) {
      storm.begin();
      storm.introduce();
      if (wires_.speaks().has_sessions() && wires_.speaks().has_hello()) {
        storm.ask(std::nullopt, hello());
        if (!joins_with_hello) storm.end_step();
      }
      auto const end = (session + 1) * size_.tasks / size_.connections;
      for (; task < end; ++task) {
        core::join_args join{incarnation{random_()}};
        join.with_hello = joins_with_hello;
        storm.ask(task_id{task}, std::move(join));
      }
      storm.end_step();
    }
    tally found;
    auto took = storm.run(found);
    wires_.send_background_calls();
    found.operations = size_.tasks;
    found.latencies.resize(1);
    found.latencies[0].add(found.elapsed.count());
    found.latencies.push_back(std::move(took.greeted));
    return found;
  }

 private:
  connections wires_;
  extent size_;
  std::mt19937_64 random_{std::random_device{}()};
};

class churn_load final : public load {
 public:
  churn_load(address server, std::unique_ptr<peer> speaks, std::uint32_t slots)
      : wires_{std::move(server), std::move(speaks)}, slots_{slots} {}

  tally measure(std::uint64_t steps) override {
    constexpr std::uint64_t prepared_max = 100'000;
    tally found;
    found.latencies.resize(2);
    found.operations = steps;
    wires_.speaks().expect({core::answer{}, join_answer(), hello_answer(slots_)});
    visits coming{wires_, slots_};
    while (steps > 0) {
      auto const now = std::min(steps, prepared_max);
      for (std::uint64_t i = 0; i < now; ++i) {
        prepare(coming, task_id{static_cast<std::uint32_t>(i % slots_)});
      }
      auto const took = coming.run(found);
      found.latencies[0].add(took.finished);
      found.latencies[1].add(took.greeted);
      steps -= now;
    }
    return found;
  }

 private:
  void prepare(visits& coming, task_id task) {
    coming.begin();
    coming.ask(std::nullopt, hello(), 2);
    coming.end_step();
    coming.ask(task, core::join_args{incarnation{random_()}}, 1);
    coming.end_step();
    coming.ask(task, core::leave_args{}, 0);
    coming.end_step();
    std::optional<core::request> bye;
    if (wires_.speaks().has_sessions()) bye = core::bye_args{};
    coming.close(std::move(bye));
  }

  connections wires_;
  std::uint32_t slots_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace

std::unique_ptr<load> make_join(load_plan const& plan) {
  return std::make_unique<join_load>(plan.server, make_peer(plan), plan.size);
}

std::unique_ptr<load> make_churn(load_plan const& plan) {
  auto const slots = plan.get<std::uint32_t>("slots");
  return std::make_unique<churn_load>(plan.server, make_peer(plan), slots);
}

}  // namespace coxswain::bench
