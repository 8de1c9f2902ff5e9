#include "servers/process.hpp"

#include "bench_error.hpp"
#include "load/tally.hpp"
#include "servers/machine.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coxswain::bench {
namespace {

volatile sig_atomic_t signal_seen = 0;

void note_signal(int number) { signal_seen = number; }

void on_signal(int number, void (*action)(int)) {
  struct sigaction how {};
  how.sa_handler = action;
  sigemptyset(&how.sa_mask);
  sigaction(number, &how, nullptr);
}

void mask_both(int how) {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  sigprocmask(how, &both, nullptr);
}

struct header {
  message_kind kind{};
  std::uint32_t size{};
};

std::string describe(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    auto const number = WTERMSIG(wait_status);
    return fmt::format("was killed by signal {} ({})", number, ::strsignal(number));
  }
  return fmt::format("ended with exit code {}", WEXITSTATUS(wait_status));
}

// Leaves the child standard streams and its channel, so that every other channel of the parent is
// closed when the parent closes it.
channel close_all_but(channel kept) {
  constexpr int first_free = 3;
  if (kept.fd() != first_free) {
    ::dup2(kept.fd(), first_free);
    channel moved{net::descriptor{first_free}};
    kept = std::move(moved);
  }
  ::close_range(first_free + 1, ~0U, 0);
  return kept;
}

}  // namespace

interrupts::interrupts() {
  mask_both(SIG_BLOCK);
  on_signal(SIGINT, note_signal);
  on_signal(SIGTERM, note_signal);
}

interrupts::~interrupts() {
  on_signal(SIGINT, SIG_DFL);
  on_signal(SIGTERM, SIG_DFL);
  mask_both(SIG_UNBLOCK);
}

void interrupts::wait_readable(int fd) const {
  sigset_t mask_during_wait;
  sigprocmask(SIG_BLOCK, nullptr, &mask_during_wait);
  sigdelset(&mask_during_wait, SIGINT);
  sigdelset(&mask_during_wait, SIGTERM);
  pollfd waited{fd, POLLIN, 0};
  for (;;) {
    auto const ready = ppoll(&waited, 1, nullptr, &mask_during_wait);
    if (signal_seen != 0) throw bench_error{"interrupted", exit_code::interrupted};
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw system_failure("cannot wait for a child process");
  }
}

void reset_signals_in_child() {
  on_signal(SIGINT, SIG_IGN);
  on_signal(SIGTERM, SIG_DFL);
  mask_both(SIG_UNBLOCK);
}

std::pair<channel, channel> channel::make_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw system_failure("cannot make a pair of sockets");
  }
  return {channel{net::descriptor{ends[0]}}, channel{net::descriptor{ends[1]}}};
}

void channel::send(message_kind kind, std::string_view payload) {
  auto whole = raw(header{kind, static_cast<std::uint32_t>(payload.size())});
  whole += payload;

  std::string_view rest{whole};
  while (!rest.empty()) {
    auto const sent = ::send(fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EINTR || may_go_on(POLLOUT))) continue;
    if (sent < 0) throw system_failure("cannot talk to another process of the benchmark");
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::optional<message> channel::receive() {
  header h;
  if (!read_all(reinterpret_cast<char*>(&h), sizeof h)) return std::nullopt;
  message m{h.kind, std::string(h.size, '\0')};
  if (!read_all(m.payload.data(), m.payload.size())) return std::nullopt;
  return m;
}

// A process that waits for the channel with Asio finds it non-blocking afterwards.
bool channel::may_go_on(short event) const {
  if (errno != EAGAIN) return false;
  pollfd waited{fd(), event, 0};
  return ::poll(&waited, 1, -1) > 0;
}

bool channel::read_all(char* into, std::size_t size) {
  while (size > 0) {
    auto const got = ::recv(fd(), into, size, 0);
    if (got < 0 && (errno == EINTR || may_go_on(POLLIN))) continue;
    if (got <= 0) return false;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

std::string payload_of(bench_error const& problem) {
  return static_cast<char>(problem.code()) + std::string{problem.what()};
}

bench_error failure_of(message const& m) {
  if (m.payload.empty()) return bench_error{"failed without a word"};
  return bench_error{m.payload.substr(1), static_cast<exit_code>(m.payload.front())};
}

std::uint64_t message::number() const {
  std::string_view bytes{payload};
  return take_raw<std::uint64_t>(bytes);
}

child_process::child_process(std::string name, std::optional<int> cpu,
                             std::function<void(channel&)> body)
    : name_{std::move(name)} {
  auto [ours, theirs] = channel::make_pair();
  std::fflush(nullptr);  // else the child would write it again
  auto const parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw system_failure("cannot start " + name_);
  if (pid_ == 0) run_child(std::move(theirs), cpu, parent, body);
  control_ = std::move(ours);
}

child_process::~child_process() {
  if (ending_) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

// Never returns and never unwinds: the stack above belongs to the parent.
void child_process::run_child(channel control, std::optional<int> cpu, pid_t parent,
                              std::function<void(channel&)> const& body) {
  int code = 1;
  try {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // the parent ended before the line above
    reset_signals_in_child();
    auto kept = close_all_but(std::move(control));
    try {
      if (cpu) pin_to(*cpu);
      body(kept);
      code = 0;
    } catch (bench_error const& problem) {
      kept.send(message_kind::failure, payload_of(problem));
    } catch (std::exception const& problem) {
      kept.send(message_kind::failure, payload_of(bench_error{problem.what()}));
    }
  } catch (...) {
    // The parent is gone, and with it everybody who would want to know.
  }
  ::_exit(code);
}

void child_process::send(message_kind kind, std::string_view payload) try {
  control_.send(kind, payload);
} catch (bench_error const&) {
  throw last_words().value_or(bench_error{name_ + " does not listen"});
}

message child_process::receive(interrupts const& signals) {
  signals.wait_readable(control_.fd());
  return receive();
}

message child_process::receive() {
  auto received = control_.receive();
  if (received && received->kind != message_kind::failure) return *std::move(received);
  throw why_silent(received);
}

std::optional<bench_error> child_process::last_words() {
  constexpr int patience_ms = 200;
  pollfd waited{control_.fd(), POLLIN, 0};
  if (::poll(&waited, 1, patience_ms) <= 0) return std::nullopt;
  auto const received = control_.receive();
  if (received && received->kind != message_kind::failure) return std::nullopt;
  return why_silent(received);
}

// `received` is a failure, or nothing: then the process has closed its channel and is ending.
bench_error child_process::why_silent(std::optional<message> const& received) {
  if (received) {
    auto const failure = failure_of(*received);
    return bench_error{fmt::format("{}: {}", name_, failure.what()), failure.code()};
  }
  await_end();
  return bench_error{fmt::format("{} {}", name_, *ending())};
}

void child_process::await_end() {
  while (!ending()) ::usleep(1000);
}

std::optional<std::string> child_process::ending() {
  int wait_status = 0;
  if (!ending_ && ::waitpid(pid_, &wait_status, WNOHANG) == pid_) ending_ = describe(wait_status);
  return ending_;
}

}  // namespace coxswain::bench
