// The workload `deadlines`: barriers that cannot complete, in a job that is idle otherwise, and how
// late each is told so.

#include "bench_error.hpp"
#include "connections.hpp"
#include "crowd.hpp"
#include "deadline_watch.hpp"
#include "population.hpp"
#include "stopwatch.hpp"
#include "text.hpp"
#include "workloads.hpp"

#include "coxswain/client/blocking_client.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace coxswain::bench {
namespace {

using milliseconds = std::chrono::milliseconds;

constexpr auto lateness_max = 60s;

time_point now() { return std::chrono::steady_clock::now(); }

duration of_seconds(double seconds) {
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>{seconds});
}

struct deadline_options {
  double per_second{2'000};
  double timeout_from_s{0.05};
  double timeout_to_s{1};
};

class deadlines_load final : public load, public connections::listener {
 public:
  deadlines_load(address const& server, crowd&& all, deadline_options const& given)
      : server_{server.text()},
        all_{std::move(all)},
        gap_{of_seconds(1 / given.per_second)},
        timeout_ms_{std::llround(given.timeout_from_s * 1e3),
                    std::llround(given.timeout_to_s * 1e3)},
        unanswered_(all_.sessions()) {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    all_.connect(progress);
    all_.join();
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

  // Asked once: a picture of many tasks is much.
  std::string conclude() override {
    blocking_client observer{client_options{server_}};
    auto const seen = observer.inspect();
    return watched_.to_bytes({seen.lateness_p99, seen.lateness_max, seen.deadlines_answered});
  }

  void beat() override { all_.beat(); }
  duration beat_period() const noexcept override { return all_.beat_period(); }
  void finish() override { all_.leave(); }

 private:
  // Barriers begin at an even pace, and so do the heartbeats of the sessions.
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
        beat(next_session_);
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

  // All tasks but the last one call, in turn, and each waits for the last one.
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

  void beat(std::size_t session) {
    frame_.clear();
    all_.speaks().ask(frame_, {session, std::nullopt, unanswered_[session]}, std::monostate{});
    all_.wires().send(session, frame_);
  }

  void arrived(std::size_t connection, received_frame const& frame) override {
    auto const at = now();
    auto const found = all_.speaks().judge(frame);
    if (found == verdict::respond) beat(connection);
    if (found != verdict::answer) return;
    auto const id = wire::decode_server(frame.beginning)->id;
    late_->add(watched_.ends({connection, id}, at).count());
    --unanswered_[connection];
  }

  std::string server_;
  crowd all_;
  duration gap_;  // between the beginnings of two barriers
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

class deadlines final : public workload {
 public:
  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "deadlines",
        "Barriers that cannot complete, in a job that is idle otherwise: how late each is told "
        "that it has timed out. Fails if one is told too early");
    who_.add_without_floor_to(cmd);
    cmd.add_option("--per-second", given_.per_second, "Barriers that begin in a second")
        ->check(CLI::Range(0.1, 100'000.0))
        ->capture_default_str();
    CLI::Range const timeout{0.001, 60.0};
    cmd.add_option("--timeout-from", given_.timeout_from_s,
                   "Each has any timeout, in whole milliseconds, from so many seconds")
        ->check(timeout)
        ->capture_default_str();
    cmd.add_option("--timeout-to", given_.timeout_to_s, "... to so many")
        ->check(timeout)
        ->capture_default_str();
    return &cmd;
  }

  void check() const override {
    who_.check();
    if (who_.tasks() < 2) {
      throw bench_error{"--tasks 1: one task waits for another, so there must be two",
                        exit_code::usage};
    }
    if (given_.timeout_from_s > given_.timeout_to_s) {
      throw bench_error{fmt::format("--timeout-from {} is above --timeout-to {}",
                                    given_.timeout_from_s, given_.timeout_to_s),
                        exit_code::usage};
    }
    check_open_calls();
  }

  vocabulary words() const override {
    vocabulary w;
    w.name = "deadlines";
    w.title =
        fmt::format("deadlines of {} s to {} s, {} barriers a second, among {}",
                    given_.timeout_from_s, given_.timeout_to_s, given_.per_second, who_.text());
    w.steps = "barriers";
    w.operation = {"barrier", "barrier"};
    w.latencies = {{"deadline to its news", "lateness_ns"}};
    return w;
  }

  std::vector<parameter> parameters() const override {
    return {{"tasks", who_.tasks()},
            {"sessions", who_.sessions()},
            {"timeout_from_ns", nanoseconds(given_.timeout_from_s)},
            {"timeout_to_ns", nanoseconds(given_.timeout_to_s)},
            {"gap_ns", nanoseconds(1 / given_.per_second)}};
  }

  // Those of a second.
  std::uint64_t steps_by_default() const override {
    return std::max<std::uint64_t>(10, static_cast<std::uint64_t>(given_.per_second));
  }

  std::size_t connections(side_kind kind) const override { return who_.connections(kind); }
  std::uint32_t tasks(side_kind kind) const override { return who_.tasks(kind); }
  bool has_floor() const override { return false; }
  // The observer does, at the end.
  bool connects_in_samples() const override { return true; }
  bool ends_in_failure() const override { return true; }
  void configure(core::config& coordinator) const override { coordinator.num_tasks = who_.tasks(); }

  std::optional<finding> conclude(std::string_view seen) const override {
    return deadline_watch::told(seen);
  }

  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    auto const tasks = who_.tasks(kind);
    return std::make_unique<deadlines_load>(
        server, crowd{server, make_peer(kind, tasks), who_.connections(kind), tasks}, given_);
  }

 private:
  static std::uint64_t nanoseconds(double seconds) {
    return static_cast<std::uint64_t>(of_seconds(seconds).count());
  }

  void check_open_calls() const {
    auto const allowed = core::config{}.open_requests_max_per_task;
    auto const open = given_.per_second * given_.timeout_to_s / (who_.tasks() - 1);
    if (open <= allowed - 1) return;
    throw bench_error{fmt::format("each task would have up to {:.0f} barriers open at once, but a "
                                  "coordinator allows {}: fewer --per-second, a shorter "
                                  "--timeout-to, or more --tasks",
                                  std::ceil(open) + 1, allowed),
                      exit_code::usage};
  }

  population who_;
  deadline_options given_;
};

}  // namespace

std::unique_ptr<workload> make_deadlines() { return std::make_unique<deadlines>(); }

}  // namespace coxswain::bench
