#pragma once
// Whose process is at the other end of a TCP connection within this machine. Not here: Unix
// sockets, whose kernel says so.

namespace coxswain::net {

// Whether the peer of this IPv4 socket on the loopback interface is a process of our own user, or
// of root. False if that is not known. Reads the kernel's table of connections.
[[nodiscard]] bool is_of_this_user(int socket);

}  // namespace coxswain::net
