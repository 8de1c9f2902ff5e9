#include "load/connections.hpp"

#include "bench_error.hpp"
#include "load/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>

namespace coxswain::bench {
namespace {

constexpr std::size_t read_bytes = std::size_t{256} * 1024;

timespec timespec_of(duration d) {
  auto const seconds = std::chrono::floor<std::chrono::seconds>(std::max(d, duration{}));
  return {seconds.count(), (std::max(d, duration{}) - seconds).count()};
}

}  // namespace

connections::connections(address server, std::unique_ptr<peer> speaks)
    : peer_{std::move(speaks)},
      spin_{server.spin()},
      connector_{std::move(server)},
      epoll_{epoll_create1(EPOLL_CLOEXEC)},
      buffer_(read_bytes) {
  if (epoll_.value() < 0) throw system_failure("cannot make an epoll");
}

void connections::open() {
  auto const number = all_.size();
  all_.push_back({connector_.connect(), peer_->reader(number)});
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLET;
  wanted.data.u64 = number;
  if (epoll_ctl(epoll_.value(), EPOLL_CTL_ADD, all_.back().socket.value(), &wanted) != 0) {
    throw system_failure("cannot watch a connection");
  }
}

void connections::send(std::size_t connection, std::string_view bytes) {
  while (!bytes.empty()) {
    auto const sent =
        ::send(all_[connection].socket.value(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) fail(connection, "the server does not read");
    if (sent < 0) fail(connection, system_failure("cannot send").what());
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void connections::send_background_calls() {
  struct answers final : listener {
    explicit answers(connections& all) : of{all} {}
    void arrived(std::size_t connection, received_frame const& frame) override {
      if (of.judge(connection, frame) == verdict::answer) --waiting;
    }
    connections& of;
    std::size_t waiting{};
  } coming{*this};
  if (!peer_->has_background_calls()) return;
  std::string calls;
  peer_->ask(calls, {0, std::nullopt}, core::watch_tasks_args{});
  send(0, calls);
  coming.waiting = 1;
  await(coming.waiting, 0, coming, "calls got no states of the tasks");
  for (std::size_t i = 0; i < all_.size(); ++i) {
    calls.clear();
    coming.waiting += peer_->append_background_calls(calls, i);
    send(i, calls);
  }
  await(coming.waiting, 0, coming, "connections were not read");
}

verdict connections::judge(std::size_t connection, received_frame const& frame) {
  auto const found = peer_->judge(frame);
  if (found == verdict::respond) {
    std::string alive;
    peer_->ask(alive, {connection, std::nullopt, all_unanswered}, std::monostate{});
    send(connection, alive);
  }
  return found;
}

void connections::await(std::size_t const& waiting, std::size_t left, listener& to,
                        std::string_view what) {
  constexpr auto silence_max = 60s;
  while (waiting > left) {
    to.before_wait();
    if (wait(now() + silence_max, to)) continue;
    throw bench_error{
        fmt::format("{} {}, and nothing came for {} s: the server hangs or has lost them (its "
                    "stack: 'gdb -p PID')",
                    waiting, what, std::chrono::seconds{silence_max}.count())};
  }
}

bool connections::wait(time_point until, listener& to) {
  std::array<epoll_event, 1024> events{};
  auto const look = [&](duration longest) {
    auto const time = timespec_of(longest);
    return epoll_pwait2(epoll_.value(), events.data(), static_cast<int>(events.size()), &time,
                        nullptr);
  };
  int ready = 0;
  if (spin_.is_on()) {
    spin_.restart(now());
    while (ready == 0 && now() < until && spin_.again(now())) ready = look({});
  }
  if (ready == 0) ready = look(until - now());
  if (ready < 0 && errno != EINTR) throw system_failure("cannot wait for answers");
  for (int i = 0; i < ready; ++i) {
    read(events[static_cast<std::size_t>(i)].data.u64, to);
  }
  return ready != 0;
}

void connections::fail(std::size_t connection, std::string const& why) const {
  throw bench_error{fmt::format("connection {} (of {}): {}", connection, all_.size(), why)};
}

// Zero: there is nothing more for now.
std::size_t connections::read_some(std::size_t connection) {
  for (;;) {
    auto const got =
        ::recv(all_[connection].socket.value(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0) fail(connection, "the server closed the connection");
    if (errno == EAGAIN) return 0;
    if (errno != EINTR) fail(connection, system_failure("cannot read").what());
  }
}

// The edge reports each arrival of bytes: unless the buffer was filled, one call has them all.
void connections::read(std::size_t connection, listener& to) {
  for (;;) {
    auto const got = read_some(connection);
    if (got == 0) return;
    hand_out(connection, {buffer_.data(), got}, to);
    to.was_read(connection);
    if (got < buffer_.size()) return;
  }
}

void connections::hand_out(std::size_t connection, std::string_view input, listener& to) try {
  auto& frames = *all_[connection].frames;
  while (auto const frame = frames.next(input)) to.arrived(connection, *frame);
  send(connection, frames.take_output());
} catch (bench_error const& problem) {
  fail(connection, problem.what());
}

}  // namespace coxswain::bench
