#include "servers/baseline.hpp"

#include "bench_error.hpp"
#include "load/frames.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace coxswain::bench {
namespace {

constexpr std::size_t length_bytes = 4;

// Reading all available input takes one call, edge- or level-triggered; both are equal within 2 %.
constexpr std::uint32_t read_edges = EPOLLIN | EPOLLET;

// Up to this size, frames for one connection are combined by copying to be sent with one call.
constexpr std::size_t gathered_bytes_max = std::size_t{64} * 1024;

std::string frame_of_zeros(std::size_t payload_bytes) {
  std::string frame(length_bytes + payload_bytes, '\0');
  for (std::size_t i = length_bytes, left = payload_bytes; i-- > 0; left >>= 8) {
    frame[i] = static_cast<char>(left & 0xff);
  }
  return frame;
}

// The number of bytes accepted by the socket. A lost peer is noticed when it is read.
std::size_t send_some(int fd, std::string const& frame, std::size_t from) {
  for (;;) {
    auto const sent = ::send(fd, frame.data() + from, frame.size() - from, MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EAGAIN) return 0;
    if (errno == EPIPE || errno == ECONNRESET) return frame.size() - from;
    if (errno != EINTR) throw system_failure("the baseline cannot send an answer");
  }
}

// The baseline's replies: frames of zeros, made once per size and shared by all connections. Bytes
// that a socket does not accept at once wait here; large frames are not copied.
class baseline_replies {
 public:
  // Answers are written by the next `flush`.
  void add(int fd, std::size_t payload_bytes);

  // Writes the added replies: consecutive ones for a connection with one call. `blocked` are the
  // connections that did not accept all of it, since the last flush. Throws bench_error.
  void flush(std::vector<int>& blocked);

  // The connection accepts bytes again; true if nothing waits any more. Throws bench_error.
  bool resume(int fd);

  // The connection is closed.
  void forget(int fd);

 private:
  using frame_ptr = std::shared_ptr<std::string const>;
  struct reply {
    int fd{};
    frame_ptr frame;
  };
  struct rest {
    frame_ptr frame;
    std::size_t sent{};
  };

  frame_ptr const& frame_of(std::size_t payload_bytes);
  void write(int fd, frame_ptr const& frame, std::vector<int>& blocked);

  std::vector<reply> added_;
  std::unordered_map<std::size_t, frame_ptr> frames_;  // by their payload's size
  std::size_t last_bytes_{};                           // the last requested size
  frame_ptr last_frame_;
  std::unordered_map<int, std::deque<rest>> waiting_;
};

void baseline_replies::add(int fd, std::size_t payload_bytes) {
  added_.push_back({fd, frame_of(payload_bytes)});
}

void baseline_replies::flush(std::vector<int>& blocked) {
  for (std::size_t i = 0; i < added_.size();) {
    auto const fd = added_[i].fd;
    auto end = i + 1;
    auto bytes = added_[i].frame->size();
    while (end < added_.size() && added_[end].fd == fd &&
           bytes + added_[end].frame->size() <= gathered_bytes_max) {
      bytes += added_[end++].frame->size();
    }
    if (end == i + 1) {
      write(fd, added_[i].frame, blocked);
    } else {
      auto all = std::make_shared<std::string>();
      all->reserve(bytes);
      for (auto at = i; at < end; ++at) *all += *added_[at].frame;
      write(fd, std::move(all), blocked);
    }
    i = end;
  }
  added_.clear();
}

bool baseline_replies::resume(int fd) {
  auto const at = waiting_.find(fd);
  if (at == waiting_.end()) return true;
  auto& queue = at->second;
  while (!queue.empty()) {
    auto& next = queue.front();
    next.sent += send_some(fd, *next.frame, next.sent);
    if (next.sent < next.frame->size()) return false;
    queue.pop_front();
  }
  waiting_.erase(at);
  return true;
}

void baseline_replies::forget(int fd) { waiting_.erase(fd); }

baseline_replies::frame_ptr const& baseline_replies::frame_of(std::size_t payload_bytes) {
  if (last_frame_ && payload_bytes == last_bytes_) return last_frame_;
  auto& frame = frames_[payload_bytes];
  if (!frame) frame = std::make_shared<std::string const>(frame_of_zeros(payload_bytes));
  last_bytes_ = payload_bytes;
  last_frame_ = frame;
  return last_frame_;
}

void baseline_replies::write(int fd, frame_ptr const& frame, std::vector<int>& blocked) {
  if (!waiting_.empty()) {
    if (auto const at = waiting_.find(fd); at != waiting_.end()) {
      at->second.push_back({frame, 0});
      return;
    }
  }
  auto const sent = send_some(fd, *frame, 0);
  if (sent == frame->size()) return;
  waiting_[fd].push_back({frame, sent});
  blocked.push_back(fd);
}

std::size_t read_length(std::string_view from) { return read_number(from.substr(0, length_bytes)); }

class baseline_server {
 public:
  baseline_server(net::descriptor listener, std::size_t together)
      : listener_{std::move(listener)}, together_{together} {
    if (epoll_.value() < 0) throw system_failure("cannot make an epoll");
    asked_.reserve(together);
    watch(EPOLL_CTL_ADD, listener_.value(), EPOLLIN);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 1024> events{};
    for (;;) {
      auto const ready = epoll_wait(epoll_.value(), events.data(), events.size(), -1);
      for (int i = 0; i < ready; ++i) {
        auto const& event = events[static_cast<std::size_t>(i)];
        if (event.data.fd == listener_.value()) {
          accept_all();
          continue;
        }
        if ((event.events & EPOLLOUT) != 0 && replies_.resume(event.data.fd)) {
          watch(EPOLL_CTL_MOD, event.data.fd, read_edges);
        }
        if ((event.events & ~EPOLLOUT) != 0) read(event.data.fd);
      }
    }
  }

 private:
  struct request {
    int fd{};
    std::size_t answer_bytes{};
  };

  void watch(int how, int fd, std::uint32_t mask) {
    epoll_event wanted{};
    wanted.events = mask;
    wanted.data.fd = fd;
    if (epoll_ctl(epoll_.value(), how, fd, &wanted) != 0) {
      throw system_failure("the baseline cannot watch a socket");
    }
  }

  void accept_all() {
    for (;;) {
      auto const fd = accept4(listener_.value(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
      if (fd < 0 && errno == EAGAIN) return;
      if (fd < 0) throw system_failure("the baseline cannot accept a connection");
      int const on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // no effect on a Unix socket
      auto const slot = static_cast<std::size_t>(fd);
      if (partial_.size() <= slot) partial_.resize(slot + 1);
      partial_[slot].clear();
      watch(EPOLL_CTL_ADD, fd, read_edges);
    }
  }

  // Unless the buffer was filled, one call has read everything.
  void read(int fd) {
    for (;;) {
      auto const got = recv(fd, buffer_.data(), buffer_.size(), 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (got <= 0) {
        replies_.forget(fd);
        ::close(fd);
        return;
      }
      take({buffer_.data(), static_cast<std::size_t>(got)}, fd);
      if (static_cast<std::size_t>(got) < buffer_.size()) return;
    }
  }

  void take(std::string_view input, int fd) {
    auto& partial = partial_[static_cast<std::size_t>(fd)];
    if (partial.empty()) {
      partial = take_frames(fd, input);
    } else {
      partial += input;
      partial.erase(0, partial.size() - take_frames(fd, partial).size());
    }
    replies_.flush(blocked_);
    for (auto const slow : blocked_) watch(EPOLL_CTL_MOD, slow, read_edges | EPOLLOUT);
    blocked_.clear();
  }

  // Takes all complete frames; the rest belongs to the next one.
  std::string_view take_frames(int fd, std::string_view input) {
    while (input.size() >= length_bytes) {
      auto const size = length_bytes + read_length(input);
      if (input.size() < size) break;
      answer({fd, read_length(input.substr(length_bytes))});
      input.remove_prefix(size);
    }
    return input;
  }

  void answer(request const& r) {
    bool const at_once = together_ == 1 || (r.answer_bytes & baseline_answer_at_once) != 0;
    if (at_once) return replies_.add(r.fd, r.answer_bytes & ~baseline_answer_at_once);
    asked_.push_back(r);
    if (asked_.size() < together_) return;
    for (auto const& a : asked_) replies_.add(a.fd, a.answer_bytes);
    asked_.clear();
  }

  net::descriptor listener_;
  std::size_t together_;
  net::descriptor epoll_{epoll_create1(EPOLL_CLOEXEC)};
  std::vector<request> asked_;        // to be answered together, in their order
  std::vector<std::string> partial_;  // by descriptor: the beginning of a frame
  baseline_replies replies_;
  std::vector<int> blocked_;
  std::array<char, 64 * 1024> buffer_{};
};

}  // namespace

void serve_baseline(address at, std::size_t together,
                    std::function<void(std::string const&)> const& listening) {
  auto listener = at.listen();
  baseline_server server{std::move(listener), together};
  listening(at.text());
  server.run();
}

}  // namespace coxswain::bench
