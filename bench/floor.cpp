#include "floor.hpp"

#include "bench_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>

namespace coxswain::bench {
namespace {

constexpr std::size_t length_bytes = 4;
constexpr std::size_t release_bytes_max = std::size_t{64} * 1024;

std::size_t read_length(std::string_view from) {
  std::size_t length = 0;
  for (char const byte : from.substr(0, length_bytes)) {
    length = length << 8 | static_cast<unsigned char>(byte);
  }
  return length;
}

std::string frame_of_zeros(std::size_t payload_bytes) {
  std::string frame(length_bytes + payload_bytes, '\0');
  for (std::size_t i = length_bytes, rest = payload_bytes; i-- > 0; rest >>= 8) {
    frame[i] = static_cast<char>(rest & 0xff);
  }
  return frame;
}

class floor_server {
 public:
  floor_server(descriptor listener, std::size_t tasks, trigger how)
      : listener_{std::move(listener)}, tasks_{tasks}, mask_{EPOLLIN} {
    if (how == trigger::edge) mask_ |= EPOLLET;
    if (epoll_.value() < 0) throw system_failure("cannot make an epoll");
    arrived_.reserve(tasks);
    watch(listener_.value(), EPOLLIN);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 1024> events{};
    for (;;) {
      auto const ready = epoll_wait(epoll_.value(), events.data(), events.size(), -1);
      for (int i = 0; i < ready; ++i) {
        auto const fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == listener_.value())
          accept_all();
        else
          read_once(fd);
      }
    }
  }

 private:
  void watch(int fd, std::uint32_t mask) {
    epoll_event wanted{};
    wanted.events = mask;
    wanted.data.fd = fd;
    if (epoll_ctl(epoll_.value(), EPOLL_CTL_ADD, fd, &wanted) != 0) {
      throw system_failure("the floor cannot watch a socket");
    }
  }

  void accept_all() {
    for (;;) {
      auto const fd = accept4(listener_.value(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
      if (fd < 0 && errno == EAGAIN) return;
      if (fd < 0) throw system_failure("the floor cannot accept a connection");
      int const on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // no effect on a Unix socket
      auto const slot = static_cast<std::size_t>(fd);
      if (partial_.size() <= slot) partial_.resize(slot + 1);
      partial_[slot].clear();
      watch(fd, mask_);
    }
  }

  // A task has at most one arrival under way, which the buffer holds: one call reads it all.
  void read_once(int fd) {
    auto const got = recv(fd, buffer_.data(), buffer_.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      ::close(fd);
      return;
    }
    std::string_view input{buffer_.data(), static_cast<std::size_t>(got)};
    auto& partial = partial_[static_cast<std::size_t>(fd)];
    if (partial.empty()) {
      partial = take_frames(fd, input);
    } else {
      partial += input;
      partial = std::string{take_frames(fd, partial)};
    }
  }

  // Takes all whole frames; what is left belongs to the next one.
  std::string_view take_frames(int fd, std::string_view input) {
    while (input.size() >= length_bytes) {
      auto const size = length_bytes + read_length(input);
      if (input.size() < size) break;
      arrive(fd, input.substr(length_bytes, size - length_bytes));
      input.remove_prefix(size);
    }
    return input;
  }

  void arrive(int fd, std::string_view arrival) {
    arrived_.push_back(fd);
    if (arrived_.size() < tasks_) return;
    auto const wanted = std::min(read_length(arrival), release_bytes_max);
    if (release_.size() != length_bytes + wanted) release_ = frame_of_zeros(wanted);
    for (auto const to : arrived_) {
      auto const sent = send(to, release_.data(), release_.size(), MSG_NOSIGNAL);
      if (sent != static_cast<ssize_t>(release_.size())) {
        throw system_failure("the floor cannot send a release");
      }
    }
    arrived_.clear();
  }

  descriptor listener_;
  std::size_t tasks_;
  std::uint32_t mask_;
  descriptor epoll_{epoll_create1(EPOLL_CLOEXEC)};
  std::vector<int> arrived_;          // whom to release, in the order of arrival
  std::vector<std::string> partial_;  // by descriptor: the beginning of a frame
  std::string release_;
  std::array<char, 64 * 1024> buffer_{};
};

}  // namespace

void serve_floor(address at, std::size_t tasks, trigger how,
                 std::function<void(std::string const&)> const& listening) {
  auto listener = at.listen();
  floor_server server{std::move(listener), tasks, how};
  listening(at.text());
  server.run();
}

}  // namespace coxswain::bench
