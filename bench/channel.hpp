#pragma once
// Messages between the benchmark's processes: one end of a socket pair. A message is a kind and
// bytes whose meaning the kind gives.

#include "bench_error.hpp"
#include "descriptor.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::bench {

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
};

class channel {
 public:
  // Both ends. Throws bench_error.
  [[nodiscard]] static std::pair<channel, channel> make_pair();

  explicit channel(descriptor socket) : socket_{std::move(socket)} {}

  [[nodiscard]] int fd() const noexcept { return socket_.value(); }

  // Throws bench_error if the other side is gone.
  void send(message_kind kind, std::string_view payload = {});
  void send_number(message_kind kind, std::uint64_t number);

  // Blocks until a message is whole. None if the other side is gone.
  [[nodiscard]] std::optional<message> receive();

 private:
  [[nodiscard]] bool may_go_on(short event) const;
  bool read_all(char* into, std::size_t size);

  descriptor socket_;
};

// What a child has caught, for its parent to throw again.
[[nodiscard]] std::string payload_of(bench_error const& problem);
[[nodiscard]] bench_error failure_of(message const& m);

// The number of a message that has one.
[[nodiscard]] std::uint64_t number_of(message const& m);

}  // namespace coxswain::bench
