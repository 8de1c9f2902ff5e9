#pragma once
// The process at the other end of a Unix socket, which was the one that connected: a descriptor
// that becomes readable when it has ended, whoever has inherited the socket.

#include "coxswain/net/descriptor.hpp"

namespace coxswain::relay {

struct peer_process {
  net::descriptor alive;  // readable after its end; none: it is hidden, or not of this host
  bool has_ended{};       // before it could be watched
};

// `socket` was accepted just now.
[[nodiscard]] peer_process process_of(int socket);

// The same where the kernel is older than Linux 6.5.
[[nodiscard]] peer_process process_by_number(int socket);

}  // namespace coxswain::relay
