#include "child_process.hpp"

#include "bench_error.hpp"
#include "interrupts.hpp"
#include "machine.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coxswain::bench {
namespace {

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
    channel moved{descriptor{first_free}};
    kept = std::move(moved);
  }
  ::close_range(first_free + 1, ~0U, 0);
  return kept;
}

}  // namespace

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

void child_process::send(message_kind kind) try {
  control_.send(kind);
} catch (bench_error const&) {
  throw last_words().value_or(bench_error{name_ + " does not listen"});
}

void child_process::send_number(message_kind kind, std::uint64_t number) try {
  control_.send_number(kind, number);
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
