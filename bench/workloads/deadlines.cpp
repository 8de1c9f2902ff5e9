// The workload `deadlines`: barriers that cannot complete, in a job that is idle otherwise, and how
// late each is told so.

#include "load/crowd.hpp"
#include "load/job.hpp"
#include "workloads/deadline_watch.hpp"
#include "workloads/workloads.hpp"

#include "coxswain/client/blocking_client.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <utility>

namespace coxswain::bench {
namespace {

using milliseconds = std::chrono::milliseconds;

constexpr auto lateness_max = 60s;

struct deadline_options {
  population who{};
  double per_second{2'000};
  double timeout_from_s{0.05};
  double timeout_to_s{1};
};

class deadlines_load final : public crowd_load, public connections::listener {
 public:
  deadlines_load(address const& server, crowd&& all, deadline_options const& given)
      : crowd_load{std::move(all)},
        server_{server.text()},
        gap_{of_seconds(1 / given.per_second)},
        timeout_ms_{std::llround(given.timeout_from_s * 1e3),
                    std::llround(given.timeout_to_s * 1e3)},
        unanswered_(all_.sessions()) {}

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

void check_deadlines(deadline_options const& o) {
  if (o.who.tasks < 2) refuse("--tasks 1: one task waits for another, so there must be two");
  if (o.timeout_from_s > o.timeout_to_s) {
    refuse("--timeout-from {} is above --timeout-to {}", o.timeout_from_s, o.timeout_to_s);
  }
  auto const allowed = core::config{}.open_requests_max_per_task;
  auto const open = o.per_second * o.timeout_to_s / (o.who.tasks - 1);
  if (open <= allowed - 1) return;
  refuse(
      "each task would have up to {:.0f} barriers open at once, but a coordinator allows {}: fewer "
      "--per-second, a shorter --timeout-to, or more --tasks",
      std::ceil(open) + 1, allowed);
}

void add_deadlines(CLI::App& to, deadline_options& o) {
  o.who.add_to(to, false);
  add_number(to, "--per-second", o.per_second, 0.1, 100'000.0, "Barriers that begin in a second");
  add_number(to, "--timeout-from", o.timeout_from_s, 0.001, 60.0,
             "Each has any timeout, in whole milliseconds, from so many seconds");
  add_number(to, "--timeout-to", o.timeout_to_s, 0.001, 60.0, "... to so many");
}

plan plan_deadlines(deadline_options const& o) {
  plan p;
  auto const who = o.who.describe(p);
  check_deadlines(o);
  auto const ns = [](double s) { return static_cast<std::uint64_t>(of_seconds(s).count()); };
  p.words.name = "deadlines";
  p.words.title = fmt::format("deadlines of {} s to {} s, {} barriers a second, among {}",
                              o.timeout_from_s, o.timeout_to_s, o.per_second, who);
  p.words.steps = "barriers";
  p.words.operation = {"barrier", "barrier"};
  p.words.latencies = {{"deadline to its news", "lateness_ns"}};
  p.parameters = {{"tasks", p.ours.tasks},
                  {"sessions", p.ours.connections},
                  {"timeout_from_ns", ns(o.timeout_from_s)},
                  {"timeout_to_ns", ns(o.timeout_to_s)},
                  {"gap_ns", ns(1 / o.per_second)}};
  // Those of a second.
  p.steps = std::max<std::uint64_t>(10, static_cast<std::uint64_t>(o.per_second));
  p.connects_in_samples = true;  // the observer does, at the end
  p.ends_in_failure = true;
  p.conclude = deadline_watch::told;
  p.make_load = [o](side_kind kind, address server, extent size) {
    return std::make_unique<deadlines_load>(server, crowd_of(kind, server, size), o);
  };
  return p;
}

}  // namespace

workload make_deadlines() {
  auto w = described<deadline_options>(
      "deadlines",
      "Barriers that cannot complete, in an otherwise idle job: how long after its deadline each "
      "one times out. Fails if one times out early",
      add_deadlines, plan_deadlines);
  w.has_floor = false;
  return w;
}

}  // namespace coxswain::bench
