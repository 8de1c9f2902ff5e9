// The workload `deadlines`: barriers that cannot complete, in an otherwise idle job, and the
// lateness of their timeouts.

#include "load/crowd.hpp"
#include "load/job.hpp"
#include "workloads/deadline_watch.hpp"

#include "coxswain/client/blocking_client.hpp"
#include "coxswain/core/config.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <utility>

namespace coxswain::bench {
namespace {

using milliseconds = std::chrono::milliseconds;

constexpr auto lateness_max = 60s;

class deadlines_load final : public crowd_load, public connections::listener {
 public:
  explicit deadlines_load(load_plan const& plan)
      : crowd_load{crowd_of(plan)},
        server_{plan.server.text()},
        gap_{plan.get<std::int64_t>("gap_ns")},
        timeout_ms_{plan.get<std::int64_t>("timeout_from_ms"),
                    plan.get<std::int64_t>("timeout_to_ms")},
        unanswered_(all_.sessions()) {
    auto const allowed = core::config{}.open_requests_max_per_task;
    auto const open = timeout_ms_.b() * 1'000'000 / gap_.count() / (all_.tasks() - 1) + 2;
    if (open <= allowed) return;
    refuse(
        "each task would have up to {} barriers open at once, but a coordinator allows {}: fewer "
        "--per-second, a shorter --timeout-to, or more --tasks",
        open, allowed);
  }

  tally measure(std::uint64_t steps) override {
    all_.speaks().expect({core::answer{{errc::deadline_exceeded, {}}, barrier_failure{}}});
    tally found;
    found.latencies.resize(1);
    found.operations = steps;
    late_ = &found.latencies[0];
    stopwatch const watch;
    run(steps);
    watch.stop(found);
    all_.speaks().settle();
    return found;
  }

  // Requested once: a snapshot of many tasks is large.
  boost::json::object conclude() override {
    blocking_client observer{client_options{server_}};
    auto const seen = observer.inspect();
    return {{"ended", watched_.ended()},
            {"early", watched_.early()},
            {"early_by_max_ns", watched_.early_by_max().count()},
            {"own_lateness_p99_ns", seen.lateness_p99.count()},
            {"own_lateness_max_ns", seen.lateness_max.count()},
            {"deadlines_answered", seen.deadlines_answered}};
  }

 private:
  // Barriers start at a constant rate, as do the heartbeats of the sessions.
  void run(std::uint64_t steps) {
    auto const beat_gap = beat_period() / static_cast<std::int64_t>(all_.sessions());
    last_deadline_ = now();
    auto next_call = last_deadline_;
    auto next_beat = beat_gap > 0ns ? next_call + beat_gap : time_point::max();
    while (steps > 0 || watched_.open() > 0) {
      auto const moment = now();
      if (steps > 0 && moment >= next_call) {
        call();
        --steps;
        next_call += gap_;
      } else if (moment >= next_beat) {
        beat_of(next_session_);
        next_session_ = (next_session_ + 1) % all_.sessions();
        next_beat += beat_gap;
      } else {
        wait(steps > 0 ? std::min(next_call, next_beat) : next_beat);
      }
    }
  }

  void wait(time_point until) {
    auto const at_last = last_deadline_ + lateness_max;
    (void)all_.wires().wait(std::min(until, at_last), *this);
    if (now() < at_last) return;
    throw bench_error{
        fmt::format("{} barriers have not been told that they timed out, {} s after "
                    "the last of their deadlines",
                    watched_.open(), std::chrono::seconds{lateness_max}.count())};
  }

  // All tasks except the last call, round-robin, and each waits for the last.
  void call() {
    task_id const caller{next_task_};
    task_id const absent{all_.tasks() - 1};
    next_task_ = (next_task_ + 1) % absent.value;
    auto const session = all_.session_of(caller.value);
    milliseconds const timeout{timeout_ms_(random_)};
    core::barrier_args arrival;
    arrival.name = fmt::format("deadline-{}", ++called_);
    arrival.timeout = timeout;
    arrival.participants = {caller, absent};
    frame_.clear();
    all_.speaks().ask(frame_, {session, caller, unanswered_[session]++}, std::move(arrival));
    auto const id = wire::decode_client(std::string_view{frame_}.substr(wire::length_bytes))->id;
    auto const deadline = now() + timeout;
    last_deadline_ = std::max(last_deadline_, deadline);
    watched_.begins({session, id}, deadline);
    all_.wires().send(session, frame_);
  }

  void beat_of(std::size_t session) {
    frame_.clear();
    all_.speaks().ask(frame_, {session, std::nullopt, unanswered_[session]}, std::monostate{});
    all_.wires().send(session, frame_);
  }

  void arrived(std::size_t connection, received_frame const& frame) override {
    auto const at = now();
    auto const found = all_.speaks().judge(frame);
    if (found == verdict::respond) beat_of(connection);
    if (found != verdict::answer) return;
    auto const id = wire::decode_server(frame.beginning)->id;
    late_->add(watched_.ends({connection, id}, at).count());
    --unanswered_[connection];
  }

  std::string server_;
  duration gap_;  // between the starts of two barriers
  std::uniform_int_distribution<std::int64_t> timeout_ms_;
  std::mt19937_64 random_{1};
  deadline_watch watched_;
  std::vector<std::uint32_t> unanswered_;  // by session
  std::uint32_t next_task_{};              // calls next
  std::size_t next_session_{};             // beats next
  std::uint64_t called_{};
  time_point last_deadline_{};
  std::string frame_;
  histogram* late_{};
};

}  // namespace

std::unique_ptr<load> make_deadlines(load_plan const& plan) {
  return std::make_unique<deadlines_load>(plan);
}

}  // namespace coxswain::bench
