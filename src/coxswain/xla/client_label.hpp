#pragma once
// The label of a client for people: "JAX client, jaxlib 0.7.1 to 0.9.0".

#include "coxswain/xla/methods.hpp"

#include <string>
#include <string_view>

namespace coxswain::xla {

// gRPC sends its own version, as in "grpc-c++/1.78.0 grpc-c/54.0.0 (linux; chttp2)". Each jaxlib is
// built with one, so it tells which ones the client may be; a version that no known jaxlib has is
// shown as it is.
[[nodiscard]] std::string client_label(std::string_view user_agent, generation of);

}  // namespace coxswain::xla
