#pragma once
// Whose process is at the other end of a TCP connection within this machine. Not here: Unix
// sockets, whose kernel says so.

namespace coxswain::net {

// Whether the peer of this TCP socket is a process within this machine, of our own user or of root,
// that still holds its end. False if that is not known. One request to the kernel (sock_diag),
// whatever the number of connections.
[[nodiscard]] bool is_of_this_user(int socket);

}  // namespace coxswain::net
