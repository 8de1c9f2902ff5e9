#include "visits.hpp"

#include "bench_error.hpp"
#include "stopwatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace coxswain::bench {
namespace {

// So few connections at once fit any listener's queue, and each says hello in time.
constexpr std::size_t greeting_max = 128;

constexpr auto silence_max = 60s;

time_point now() { return std::chrono::steady_clock::now(); }

}  // namespace

visits::visits(connections& wires, peer& speaks, std::size_t slots)
    : wires_{wires}, peer_{speaks}, slots_(slots) {}

void visits::begin() {
  peer_.open(visits_.size() % slots_.size());
  visits_.push_back({steps_.size(), steps_.size(), false, std::nullopt});
}

void visits::ask(std::optional<task_id> task, core::request what, std::size_t model) {
  auto const connection = (visits_.size() - 1) % slots_.size();
  auto const unanswered = frames_.size() - step_begun_;
  peer_.ask(frames_.open(), {connection, task, unanswered, model}, std::move(what));
  frames_.close(connection);
}

void visits::end_step() {
  steps_.push_back({step_begun_, frames_.size()});
  step_begun_ = frames_.size();
  visits_.back().end = steps_.size();
}

void visits::say_and_close(core::request what) {
  visits_.back().last_words = frames_.size();
  ask(std::nullopt, std::move(what));
  step_begun_ = frames_.size();
  close();
}

void visits::close() { visits_.back().is_closed = true; }

visits::times visits::run(tally& found) {
  waiting_ = visits_.size();
  took_ = {};
  std::size_t started = 0;
  auto const first_ones = std::min(slots_.size(), visits_.size());
  stopwatch const watch;
  while (waiting_ > 0) {
    while (started < first_ones && greeting_ < greeting_max) start(started++);
    if (wires_.wait(now() + silence_max, *this)) continue;
    throw bench_error{fmt::format("{} connections got no answer, and nothing came for {} s",
                                  waiting_, std::chrono::seconds{silence_max}.count())};
  }
  watch.stop(found);
  peer_.settle();
  frames_.clear();
  steps_.clear();
  visits_.clear();
  step_begun_ = 0;
  return std::exchange(took_, {});
}

void visits::start(std::size_t index) {
  auto const at = index % slots_.size();
  slots_[at] = {index, visits_[index].first, 0, now()};
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

void visits::arrived(std::size_t connection, received_frame const& frame) {
  auto const found = peer_.judge(frame);
  if (found == verdict::respond) {
    std::string alive;
    peer_.ask(alive, {connection, std::nullopt, all_unanswered}, std::monostate{});
    wires_.send(connection, alive);
  }
  if (found == verdict::answer) ++answers_;
}

void visits::was_read(std::size_t connection) {
  auto const answers = std::exchange(answers_, 0);
  if (answers == 0) return;
  auto& s = slots_[connection];
  if (answers > s.to_come) wires_.fail(connection, "it answered more often than it was asked");
  s.to_come -= answers;
  if (s.to_come > 0) return;

  auto const at = now();
  if (s.step == visits_[s.visit].first) {
    --greeting_;
    took_.greeted.add((at - s.begun).count());
  }
  if (++s.step < visits_[s.visit].end) return send_step(connection);
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

}  // namespace coxswain::bench
