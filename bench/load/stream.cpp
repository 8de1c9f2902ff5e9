#include "load/stream.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::bench {
namespace {

// Number of frames prepared at once.
constexpr std::size_t prepared_bytes_max = std::size_t{64} * 1024 * 1024;
constexpr std::uint64_t prepared_max = 500'000;

}  // namespace

stream::stream(connections& wires, std::size_t outstanding)
    : wires_{wires}, outstanding_{outstanding}, lines_(wires.size()) {
  for (auto& l : lines_) l.sent.resize(outstanding_);
}

void stream::run(std::uint64_t operations, std::function<question()> const& make, tally& found) {
  latency_ = &found.latencies.at(0);
  for (auto left = operations; left > 0;) {
    left -= prepare(left, make);
    run_prepared(found);
  }
  found.operations += operations;
}

// Makes the frames of some operations, equally many per connection, and returns their number.
std::uint64_t stream::prepare(std::uint64_t operations, std::function<question()> const& make) {
  frames_.clear();
  auto const wanted = std::min(operations, prepared_max);
  auto const share_max = std::max<std::uint64_t>(wires_.speaks().prepared_max(), outstanding_);
  std::uint64_t made = 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    auto& l = lines_[i];
    auto const share =
        std::min(wanted / lines_.size() + (i < wanted % lines_.size() ? 1 : 0), share_max);
    l.next = frames_.size();
    auto const bytes_max = (i + 1) * prepared_bytes_max / lines_.size();
    for (std::uint64_t n = 0; n < share; ++n) {
      if (n >= outstanding_ && frames_.bytes() >= bytes_max) break;
      auto q = make();
      auto const unanswered = std::min<std::uint64_t>(n, outstanding_ - 1);
      wires_.speaks().ask(frames_.open(), {i, std::nullopt, unanswered, q.model},
                          std::move(q.what));
      frames_.close(i);
    }
    l.end = frames_.size();
    made += l.end - l.next;
  }
  return made;
}

void stream::run_prepared(tally& found) {
  waiting_ = frames_.size();
  stopwatch const watch;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    send(i, outstanding_, now());
  }
  wires_.await(waiting_, 0, *this, "requests got no answer");
  watch.stop(found);
  wires_.speaks().settle();
}

// Sends up to `count` of the remaining ones with one call.
void stream::send(std::size_t connection, std::size_t count, time_point now) {
  auto& l = lines_[connection];
  auto const end = std::min(l.end, l.next + count);
  if (end == l.next) return;
  auto const frames = frames_.slice(l.next, end);
  for (; l.next < end; ++l.next) l.sent[l.asked++ % outstanding_] = now;
  wires_.send(connection, frames);
}

void stream::arrived(std::size_t connection, received_frame const& frame) {
  if (wires_.judge(connection, frame) == verdict::answer) ++answers_;
}

// Answers arrive in the order of the requests.
void stream::was_read(std::size_t connection) {
  auto const at = now();
  auto& l = lines_[connection];
  auto const answers = std::exchange(answers_, 0);
  if (answers > l.asked - l.answered) {
    wires_.fail(connection, "it answered more often than it was asked");
  }
  for (std::size_t n = 0; n < answers; ++n) {
    latency_->add((at - l.sent[l.answered++ % outstanding_]).count());
  }
  waiting_ -= answers;
  send(connection, answers, at);
}

}  // namespace coxswain::bench
