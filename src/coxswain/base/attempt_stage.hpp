#pragma once
// How far an attempt to open a connection has come.

#include <cstdint>

namespace coxswain {

// Waiting for the name server, for the TCP connection, for the TLS handshake.
enum class attempt_stage : std::uint8_t { resolving, connecting, tls_handshake };

}  // namespace coxswain
