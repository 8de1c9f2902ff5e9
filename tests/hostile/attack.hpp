#pragma once
// Hostile clients in a separate process at nice 19: each sends Hello on its own connection and then
// frames as fast as the coordinator accepts them. Not here: assertions.

#include "coxswain/core/model/messages.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace coxswain::hostile {

// One hostile client.
struct attacker {
  // The role of its token: "reader", "operator" or "worker"; empty: it sends no Hello.
  std::string role = "reader";

  // Sent once, after its Hello.
  std::string first;

  // The n-th message, counted from 1; n is also the request's id.
  std::function<core::client_message(std::uint64_t n)> next;

  // Whether it reads (and discards) its input.
  bool reads = true;

  // After this many messages it sends nothing; its connection stays open.
  std::uint64_t most = UINT64_MAX;

  // Reconnects and starts again when disconnected; otherwise the attack ends.
  bool returns = false;
};

// A request of an attacker: with id `n`, acknowledging no reply.
[[nodiscard]] core::client_message numbered(std::uint64_t n, core::request what);

// It forks, so create the attack before any threads.
class attack {
 public:
  attack(std::string const& address, std::vector<attacker> by);

  // Kills the process.
  ~attack();
  attack(attack const&) = delete;
  attack& operator=(attack const&) = delete;

  // Whether all attackers are still connected, none refused or disconnected.
  [[nodiscard]] bool goes_on();

 private:
  pid_t pid_{};
};

}  // namespace coxswain::hostile
