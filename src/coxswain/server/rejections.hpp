#pragma once
// What those are told who get no session: whole frames, to be written as they are.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

// There are `most` connections already. It ends no session, so the peer may come again.
[[nodiscard]] std::string no_room(std::size_t most);

// Its host has too many connections that have not said Hello, or all together have: the peer may
// come again.
[[nodiscard]] std::string gives_way();

// The listener speaks nothing but TLS, and the peer does not.
[[nodiscard]] std::string speaks_tls_only();

// A response of HTTP, for a peer that has sent a request of HTTP to a coordinator.
[[nodiscard]] std::string_view no_http();

// A client of a coordinator has connected to its status page; the coordinator is at `addresses`.
[[nodiscard]] std::string speaks_http_only(std::vector<std::string> const& addresses);

}  // namespace coxswain::server
