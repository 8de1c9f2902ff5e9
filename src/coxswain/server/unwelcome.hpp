#pragma once
// What those are told who get no session: whole frames, to be written as they are.

#include <cstddef>
#include <string>

namespace coxswain::server {

// There are `most` connections already. It ends no session, so the peer may come again.
[[nodiscard]] std::string no_room(std::size_t most);

// The listener speaks nothing but TLS, and the peer does not.
[[nodiscard]] std::string speaks_tls_only();

}  // namespace coxswain::server
