#pragma once
// The benchmark's processes, and what they say to each other.

#include "bench_error.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/net/descriptor.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

namespace coxswain::bench {

// SIGINT and SIGTERM for the process that the user started: they end its waits with an exception,
// so that everything that was started and made is put away on the way out. One object, made first.
class interrupts {
 public:
  // From here on both signals are held back except during `wait_readable`.
  interrupts();
  ~interrupts();
  interrupts(interrupts const&) = delete;
  interrupts& operator=(interrupts const&) = delete;

  // Waits until `fd` has something to read or has been closed by the other side. Throws bench_error
  // (interrupted) when one of the signals has come.
  void wait_readable(int fd) const;
};

// Gives a freshly forked child the usual handling back, but for SIGINT: a terminal sends it to all
// processes, and the parent alone decides what it means.
void reset_signals_in_child();

// A message is a kind and bytes whose meaning the kind gives.
enum class message_kind : std::uint32_t {
  failure,     // to the parent: what went wrong, an exit code and text; nothing follows
  memory,      // to the parent: a std::uint64_t, the server's bytes before it is one
  listening,   // to the parent: the address, as text
  progress,    // to the parent: a std::uint64_t, how many connections are open
  done,        // to the parent: connected, or finished
  tally,       // to the parent: what was found, as a tally's bytes
  steps,       // to the load: a std::uint64_t, how many to do
  act,         // to the load: a std::uint64_t, what it is to do from now on
  finish,      // to the load: leave, and disconnect
  process,     // to the parent: a std::uint64_t, a further process of the load
  recording,   // to the coordinator: hand it out; to the parent: its bytes
  conclusion,  // to the load: tell what else it has seen; to the parent: its bytes
};

struct message {
  message_kind kind{};
  std::string payload;

  [[nodiscard]] std::uint64_t number() const;  // of one that has one
};

// One end of a socket pair.
class channel {
 public:
  // Both ends. Throws bench_error.
  [[nodiscard]] static std::pair<channel, channel> make_pair();

  explicit channel(net::descriptor socket) : socket_{std::move(socket)} {}

  [[nodiscard]] int fd() const noexcept { return socket_.value(); }

  // Throws bench_error if the other side is gone.
  void send(message_kind kind, std::string_view payload = {});

  // Blocks until a message is whole. None if the other side is gone.
  [[nodiscard]] std::optional<message> receive();

 private:
  [[nodiscard]] bool may_go_on(short event) const;
  bool read_all(char* into, std::size_t size);

  net::descriptor socket_;
};

// What a child has caught, for its parent to throw again.
[[nodiscard]] std::string payload_of(bench_error const& problem);
[[nodiscard]] bench_error failure_of(message const& m);

// A forked process of the benchmark, with a channel to it. It never outlives its parent, whatever
// ends the parent, and the destructor ends and reaps it.
class child_process {
 public:
  // Runs `body` in a new process, bound to `cpu` if one is given. What `body` throws comes over the
  // channel as a `failure`. `name` is for messages: "the floor's server". Throws bench_error.
  child_process(std::string name, std::optional<int> cpu, std::function<void(channel&)> body);
  ~child_process();
  child_process(child_process const&) = delete;
  child_process& operator=(child_process const&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  // Throws bench_error, with the child's last words, if it does not listen any more.
  void send(message_kind kind, std::string_view payload = {});

  // The next message. Throws bench_error with the child's own words if it failed, with how it ended
  // if it ended, and when the user interrupts.
  [[nodiscard]] message receive(interrupts const& signals);
  // The same in a process that interrupts simply end.
  [[nodiscard]] message receive();

  // What the process had to say, if it ended or is about to: its failure, or how it ended.
  [[nodiscard]] std::optional<bench_error> last_words();

  // Waits until it has ended by itself.
  void await_end();

  // How the process ended ("was killed by signal 11 (Segmentation fault)"); none while it runs.
  [[nodiscard]] std::optional<std::string> ending();

 private:
  [[nodiscard]] bench_error why_silent(std::optional<message> const& received);
  [[noreturn]] static void run_child(channel control, std::optional<int> cpu, pid_t parent,
                                     std::function<void(channel&)> const& body);

  std::string name_;
  channel control_{net::descriptor{}};
  pid_t pid_{-1};
  std::optional<std::string> ending_;  // known: the process has been reaped
};

}  // namespace coxswain::bench
