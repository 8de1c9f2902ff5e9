#pragma once
// Hostile clients in a process of their own at nice 19: each says Hello on a connection of its own
// and then sends frames at full speed, as fast as the coordinator takes them. Not here: what is
// asserted.

#include "coxswain/core/model/messages.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace coxswain::hostile {

// One hostile client.
struct attacker {
  // Whose token it shows: "reader", "operator" or "worker"; empty: it sends no Hello at all.
  std::string role = "reader";

  // Sent once, after its Hello.
  std::string first;

  // What it sends, the n-th time: counted from 1, which serves as the request's id.
  std::function<core::client_message(std::uint64_t n)> next;

  // Whether it reads and discards its input.
  bool reads = true;

  // It sends this many messages, and then nothing; its connection stays.
  std::uint64_t most = UINT64_MAX;

  // It connects again and begins anew when it is cut off; else the attack ends then.
  bool returns = false;
};

// A request as attackers send it: with the id `n`, and no reply is acknowledged.
[[nodiscard]] core::client_message numbered(std::uint64_t n, core::request what);

// Whoever forks must be single-threaded: make the attack before any threads.
class attack {
 public:
  attack(std::string const& address, std::vector<attacker> by);

  // Kills the process.
  ~attack();
  attack(attack const&) = delete;
  attack& operator=(attack const&) = delete;

  // All attackers are still connected: none was refused or disconnected.
  [[nodiscard]] bool goes_on();

 private:
  pid_t pid_{};
};

}  // namespace coxswain::hostile
