#pragma once
// The label of a client for people: "jax 0.7.1-0.9.0, b12:3391".

#include "coxswain/xla/methods.hpp"

#include <string>
#include <string_view>

namespace coxswain::xla {

// gRPC sends its own version, as in "grpc-c++/1.78.0 grpc-c/54.0.0 (linux; chttp2)". Each jaxlib is
// built with one, so that and the generation of the protocol show which jaxlibs the client may be.
[[nodiscard]] std::string client_label(std::string_view user_agent, generation of);

// Where the client of a connection is: its process on this host, "b12:3391", for one that came by a
// Unix socket ("unix: process 3391 of user 1000"), else its address. `host`: this machine's name,
// may be empty.
[[nodiscard]] std::string client_place(std::string const& peer, std::string const& host);

}  // namespace coxswain::xla
