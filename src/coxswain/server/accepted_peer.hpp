#pragma once
// A peer that was accepted.

#include <cstdint>
#include <string>

namespace coxswain::server {

// The protocols of a connection: our own; gRPC as JAX processes speak it, or torch's TCPStore; the
// latter only; or whichever it begins with.
enum class protocols : std::uint8_t { native, jax, tcp_store, both };

// Its address for people, and what it may speak.
struct accepted_peer {
  std::string peer;
  protocols speaks{protocols::both};
};

}  // namespace coxswain::server
