#include "floor.hpp"

#include "bench_error.hpp"
#include "floor_replies.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>

namespace coxswain::bench {
namespace {

constexpr std::size_t length_bytes = 4;

std::size_t read_length(std::string_view from) {
  std::size_t length = 0;
  for (char const byte : from.substr(0, length_bytes)) {
    length = length << 8 | static_cast<unsigned char>(byte);
  }
  return length;
}

class floor_server {
 public:
  floor_server(net::descriptor listener, std::size_t together, trigger how)
      : listener_{std::move(listener)}, together_{together}, mask_{EPOLLIN} {
    if (how == trigger::edge) mask_ |= EPOLLET;
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
          watch(EPOLL_CTL_MOD, event.data.fd, mask_);
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
      watch(EPOLL_CTL_ADD, fd, mask_);
    }
  }

  // Unless the buffer was filled, one call has all that is there.
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
    for (auto const slow : blocked_) watch(EPOLL_CTL_MOD, slow, mask_ | EPOLLOUT);
    blocked_.clear();
  }

  // Takes all whole frames; what is left belongs to the next one.
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
    if (r.answer_bytes == floor_answer_never) return;
    bool const at_once = together_ == 1 || (r.answer_bytes & floor_answer_at_once) != 0;
    if (at_once) return replies_.add(r.fd, r.answer_bytes & ~floor_answer_at_once);
    asked_.push_back(r);
    if (asked_.size() < together_) return;
    for (auto const& a : asked_) replies_.add(a.fd, a.answer_bytes);
    asked_.clear();
  }

  net::descriptor listener_;
  std::size_t together_;
  std::uint32_t mask_;
  net::descriptor epoll_{epoll_create1(EPOLL_CLOEXEC)};
  std::vector<request> asked_;        // to be answered together, in their order
  std::vector<std::string> partial_;  // by descriptor: the beginning of a frame
  floor_replies replies_;
  std::vector<int> blocked_;
  std::array<char, 64 * 1024> buffer_{};
};

}  // namespace

void serve_floor(address at, std::size_t together, trigger how,
                 std::function<void(std::string const&)> const& listening) {
  auto listener = at.listen();
  floor_server server{std::move(listener), together, how};
  listening(at.text());
  server.run();
}

}  // namespace coxswain::bench
