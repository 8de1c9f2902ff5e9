#pragma once
// How far an attempt to open a connection has come.

#include <cstdint>

namespace coxswain {

// What the attempt waits for: the name server, the peer's host, the peer's part of TLS.
enum class attempt_stage : std::uint8_t { resolving, connecting, tls_handshake };

}  // namespace coxswain
