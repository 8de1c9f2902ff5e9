#include "load.hpp"

#include "bench_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <sys/epoll.h>

namespace coxswain::bench {
namespace {

constexpr std::size_t read_bytes = std::size_t{64} * 1024;
constexpr std::size_t answer_bytes_max = std::size_t{16} * 1024 * 1024;

// So few connections at once fit any listener's queue, and each says hello in time.
constexpr std::size_t connect_batch = 128;

constexpr auto silence_max = 60s;

time_point now() { return std::chrono::steady_clock::now(); }

}  // namespace

load::load(address server, std::uint32_t tasks, std::unique_ptr<peer> speaks)
    : connector_{std::move(server)},
      count_{tasks},
      peer_{std::move(speaks)},
      epoll_{epoll_create1(EPOLL_CLOEXEC)},
      buffer_(read_bytes) {
  if (epoll_.value() < 0) throw system_failure("cannot make an epoll");
  tasks_.reserve(count_);
}

void load::connect(std::function<void(std::uint64_t)> const& progress) {
  if (peer_->knows(exchange::hello)) peer_->prepare(exchange::hello);
  while (tasks_.size() < count_) {
    auto const first = tasks_.size();
    auto const end = std::min<std::size_t>(count_, first + connect_batch);
    while (tasks_.size() < end) {
      tasks_.push_back({connector_.connect(), wire::frame_decoder{answer_bytes_max}});
      epoll_event wanted{};
      wanted.events = EPOLLIN | EPOLLET;
      wanted.data.u64 = tasks_.size() - 1;
      auto const fd = tasks_.back().socket.value();
      if (epoll_ctl(epoll_.value(), EPOLL_CTL_ADD, fd, &wanted) != 0) {
        throw system_failure("cannot watch a connection");
      }
    }
    if (peer_->knows(exchange::hello)) run(exchange::hello, first, end);
    progress(end);
  }
  if (!peer_->knows(exchange::join)) return;
  peer_->prepare(exchange::join);
  run(exchange::join, 0, count_);
}

round_time load::round() {
  peer_->prepare(exchange::arrive);
  return run(exchange::arrive, 0, count_);
}

void load::beat() {
  for (std::size_t i = 0; i < count_; ++i) send(i, peer_->heartbeat());
}

void load::leave() {
  if (!peer_->knows(exchange::leave)) return;
  peer_->prepare(exchange::leave);
  run(exchange::leave, 0, count_);
  peer_->prepare(exchange::bye);
  send_all(0, count_);
}

// The tasks from `first` to `end` send what is prepared and get their answers.
round_time load::run(exchange what, std::size_t first, std::size_t end) {
  ++exchange_;
  waiting_ = end - first;
  auto const begun = now();
  auto const sent = send_all(first, end);
  auto const answered = await_all(what, end - first);
  peer_->settle();
  return {(answered - sent).count(), (answered - begun).count()};
}

// The moment before the last frame is sent: the server can have it before the call returns.
time_point load::send_all(std::size_t first, std::size_t end) {
  for (auto i = first; i + 1 < end; ++i) send(i, peer_->frame(i));
  auto const last = now();
  send(end - 1, peer_->frame(end - 1));
  return last;
}

// The moment after the last answer was read.
time_point load::await_all(exchange what, std::size_t count) {
  auto const patience = std::chrono::duration_cast<std::chrono::milliseconds>(silence_max);
  std::array<epoll_event, 1024> events{};
  while (waiting_ > 0) {
    auto const ready = epoll_wait(epoll_.value(), events.data(), static_cast<int>(events.size()),
                                  static_cast<int>(patience.count()));
    if (ready < 0 && errno != EINTR) throw system_failure("cannot wait for answers");
    if (ready == 0) {
      throw bench_error{fmt::format(
          "{} of {} tasks did not get {}, and nothing came for {} s: the server hangs or has lost "
          "it (its stack: 'gdb -p PID')",
          waiting_, count, awaited(what), std::chrono::seconds{silence_max}.count())};
    }
    for (int i = 0; i < ready; ++i) read(events[static_cast<std::size_t>(i)].data.u64);
  }
  return now();
}

// The edge tells of each arrival of bytes: unless the buffer was filled, one call has them all.
void load::read(std::size_t index) {
  for (;;) {
    auto const fd = tasks_[index].socket.value();
    auto const got = ::recv(fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(index, system_failure("cannot read").what());
    if (got == 0) fail(index, "the server closed the connection");
    take_frames(index, {buffer_.data(), static_cast<std::size_t>(got)});
    if (static_cast<std::size_t>(got) < buffer_.size()) return;
  }
}

void load::take_frames(std::size_t index, std::string_view input) try {
  auto& who = tasks_[index];
  who.frames.feed(input);
  for (;;) {
    auto const next = who.frames.next();
    if (!next) throw bench_error{next.error().text()};
    if (!*next) return;
    auto const found = peer_->judge(**next);
    if (found == verdict::respond) send(index, peer_->heartbeat());
    if (found != verdict::answer) continue;
    if (who.answered == exchange_) throw bench_error{"it answered the same request twice"};
    who.answered = exchange_;
    --waiting_;
  }
} catch (bench_error const& problem) {
  fail(index, problem.what());
}

void load::send(std::size_t index, std::string_view frame) {
  auto const sent = ::send(tasks_[index].socket.value(), frame.data(), frame.size(), MSG_NOSIGNAL);
  if (sent < 0) fail(index, system_failure("cannot send").what());
  if (static_cast<std::size_t>(sent) != frame.size()) {
    fail(index, "the server does not read: the send buffer is full");
  }
}

void load::fail(std::size_t index, std::string const& why) const {
  throw bench_error{fmt::format("the connection of task {} (of {}): {}", index, count_, why)};
}

}  // namespace coxswain::bench
