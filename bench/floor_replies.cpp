#include "floor_replies.hpp"

#include "bench_error.hpp"

#include <cerrno>

#include <sys/socket.h>

namespace coxswain::bench {
namespace {

constexpr std::size_t length_bytes = 4;

// Up to this size frames for one connection are copied together to be sent with one call.
constexpr std::size_t gathered_bytes_max = std::size_t{64} * 1024;

std::string frame_of_zeros(std::size_t payload_bytes) {
  std::string frame(length_bytes + payload_bytes, '\0');
  for (std::size_t i = length_bytes, left = payload_bytes; i-- > 0; left >>= 8) {
    frame[i] = static_cast<char>(left & 0xff);
  }
  return frame;
}

// How much of it the socket took. A peer that is gone is noticed when it is read.
std::size_t send_some(int fd, std::string const& frame, std::size_t from) {
  for (;;) {
    auto const sent = ::send(fd, frame.data() + from, frame.size() - from, MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EAGAIN) return 0;
    if (errno == EPIPE || errno == ECONNRESET) return frame.size() - from;
    if (errno != EINTR) throw system_failure("the floor cannot send an answer");
  }
}

}  // namespace

void floor_replies::add(int fd, std::size_t payload_bytes) {
  added_.push_back({fd, frame_of(payload_bytes)});
}

void floor_replies::flush(std::vector<int>& blocked) {
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

bool floor_replies::resume(int fd) {
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

void floor_replies::forget(int fd) { waiting_.erase(fd); }

floor_replies::frame_ptr const& floor_replies::frame_of(std::size_t payload_bytes) {
  if (last_frame_ && payload_bytes == last_bytes_) return last_frame_;
  auto& frame = frames_[payload_bytes];
  if (!frame) frame = std::make_shared<std::string const>(frame_of_zeros(payload_bytes));
  last_bytes_ = payload_bytes;
  last_frame_ = frame;
  return last_frame_;
}

void floor_replies::write(int fd, frame_ptr const& frame, std::vector<int>& blocked) {
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

}  // namespace coxswain::bench
