#pragma once
// The replies to peers that get no session, as complete frames.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

// There are `most` connections already. It ends no session, so the peer can retry.
[[nodiscard]] std::string no_room(std::size_t most);

// A trunk has `most` routes already: its relay's client can retry elsewhere.
[[nodiscard]] std::string no_route(std::size_t most);

// Its host, or all hosts together, have too many connections before Hello: the peer can retry.
[[nodiscard]] std::string gives_way();

// The listener requires TLS, and the peer does not use it.
[[nodiscard]] std::string speaks_tls_only();

// This is a standby; `leader` is the address of the coordinator that leads the job, if there is
// one. The peer can resume its session there, or here later.
[[nodiscard]] std::string standby_says(std::string const& job, std::string const& leader);

// This coordinator does not lead its job any more. The peer can resume its session at another one.
[[nodiscard]] std::string leads_no_more(std::string const& why);

// An HTTP response, for an HTTP request sent to a coordinator.
[[nodiscard]] std::string_view no_http();

// A client of a coordinator has connected to its status page; the coordinator is at `addresses`.
[[nodiscard]] std::string speaks_http_only(std::vector<std::string> const& addresses);

}  // namespace coxswain::server
