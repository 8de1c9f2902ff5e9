#include "process/output_relay.hpp"

#include "terminal/error_output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

constexpr std::size_t read_bytes_max = 64 * 1024;

// More than a pipe holds. A process that escaped from its group may continue to write for ever.
constexpr int last_reads_max = 64;

constexpr std::size_t bytes_aside_max = std::size_t{64} << 20;

// Our output may be non-blocking because another process that shares it set that.
void wait_writable(int fd) {
  pollfd waited{fd, POLLOUT, 0};
  ::poll(&waited, 1, -1);
}

// Signals are for the main thread.
std::thread start_without_signals(asio::io_context& io) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread started{[&io] { io.run(); }};
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace

output_relay::stream::stream(asio::io_context& io, net::descriptor from, int into,
                             std::string before_lines,
                             std::shared_ptr<net::descriptor const> second)
    : pipe{io, from.release()},
      to{into},
      prefix{std::move(before_lines)},
      lines{prefix},
      copy{std::move(second)} {
  pipe.native_non_blocking(true);
}

output_relay::output_relay() : thread_{start_without_signals(io_)} {}

output_relay::~output_relay() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

void output_relay::pass_on(net::descriptor from, int to, std::string prefix,
                           std::shared_ptr<net::descriptor const> copy) {
  auto begin = [this, from = std::make_shared<net::descriptor>(std::move(from)), to,
                prefix = std::move(prefix), copy = std::move(copy)] {
    streams_.emplace_front(io_, std::move(*from), to, prefix, copy);
    asio::co_spawn(io_, relay(streams_.begin()), asio::detached);
  };
  asio::post(io_, std::move(begin));
}

void output_relay::set_aside_errors(std::string spared_prefix,
                                    std::shared_ptr<net::descriptor const> into) {
  asio::post(io_, [this, spared = std::move(spared_prefix), file = std::move(into)] {
    spared_prefix_ = spared;
    aside_ = file;
  });
}

void output_relay::finish() {
  asio::post(io_, [this] {
    is_finishing_ = true;
    for (auto& s : streams_) s.pipe.cancel();
  });
  guard_.reset();
  thread_.join();
}

// Waits and reads separately, so that available output can be read without waiting at the end. One
// read for each wait, so that a child that writes endlessly does not starve the others.
asio::awaitable<void> output_relay::relay(std::list<stream>::iterator s) {
  std::array<char, read_bytes_max> bytes;
  std::string lines;
  int reads_left = last_reads_max;
  while (!is_finishing_ || reads_left-- > 0) {
    boost::system::error_code ignored;
    if (!is_finishing_) {
      co_await s->pipe.async_wait(asio::posix::stream_descriptor::wait_read,
                                  asio::redirect_error(asio::use_awaitable, ignored));
    }
    auto const count = ::read(s->pipe.native_handle(), bytes.data(), bytes.size());
    bool const is_empty = count < 0 && (errno == EAGAIN || errno == EINTR);
    if (is_empty ? is_finishing_ : count <= 0) break;
    if (is_empty) continue;
    lines.clear();
    write_to(s->copy.get(), {bytes.data(), static_cast<std::size_t>(count)});
    s->lines.feed({bytes.data(), static_cast<std::size_t>(count)}, lines);
    write(*s, lines);
  }
  lines.clear();
  s->lines.finish(lines);
  write(*s, lines);
  streams_.erase(s);
}

// Whatever becomes of it: a full disk does not end the job.
void output_relay::write_to(net::descriptor const* file, std::string_view bytes) {
  while (file && !bytes.empty()) {
    auto const count = ::write(file->value(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return;
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

bool output_relay::is_set_aside(stream const& s) const {
  return spared_prefix_ && s.to == STDERR_FILENO && s.prefix != *spared_prefix_;
}

void output_relay::write_aside(std::string_view lines) {
  auto const room = bytes_aside_max - std::min<std::size_t>(bytes_aside_, bytes_aside_max);
  write_to(aside_.get(), lines.substr(0, room));
  bytes_aside_ += lines.size();
}

// Once.
void output_relay::report_lost_output(int why) {
  if (std::exchange(has_lost_output_, true)) return;
  print_error("coxswain: output of processes is lost, because it cannot be written: {}\n",
              std::strerror(why));
}

void output_relay::write(stream const& s, std::string const& lines) {
  if (is_set_aside(s)) return write_aside(lines);
  std::string_view left{lines};
  while (!left.empty()) {
    auto const count = ::write(s.to, left.data(), left.size());
    if (count >= 0) {
      left.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      wait_writable(s.to);
    } else if (errno != EINTR) {
      report_lost_output(errno);
      return;
    }
  }
}

}  // namespace coxswain::tools
