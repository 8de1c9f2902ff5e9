#pragma once
// The options of a status page.

#include "coxswain/base/time.hpp"
#include "coxswain/core/access/credential.hpp"
#include "coxswain/net/tls_options.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace coxswain::status_page {

struct options {
  // Where to listen: "host:port" (port 0: any), "[v6]:port"; ":port" and "port" mean all addresses
  // if there are credentials, authorities for clients' certificates or `insecure`, else 127.0.0.1.
  std::string listen{"127.0.0.1:0"};

  // The tokens, one of which a request must present; none: all requests are a worker's.
  std::vector<core::credential> credentials;

  // A request without a token is a reader's. The page is then for this host only, as without
  // credentials.
  bool anyone_may_look{false};

  // Listen on an address that other hosts can reach although neither tokens nor certificates are
  // required.
  bool insecure{false};

  // If any of it is set, the page is HTTPS only. With authorities and without tokens, a certificate
  // signed by one of them counts as a worker's token; probes and the page itself need none.
  tls_options tls;

  // Above this number, further connections get one response, 503 except for a probe (/livez,
  // /readyz, /healthz). There are at most `probe_connections_max` of these; another one replaces
  // the oldest of them.
  std::size_t connections_max{256};
  std::size_t probe_connections_max{32};

  // The size limit of a request, and the time limit for receiving it, from its first byte or from
  // the beginning of the connection.
  std::size_t header_bytes_max{16 * 1024};
  std::size_t body_bytes_max{64 * 1024};
  duration request_timeout{10s};

  // The time limit for a peer to read a response; and for an idle connection.
  duration answer_timeout{30s};
  duration idle_timeout{30s};

  // The size of all texts being sent; above it, requests are refused.
  std::size_t text_bytes_max{64 * 1024 * 1024};

  // The maximum age of the snapshot that is shown; requests meanwhile share it.
  duration picture_age_max{200ms};

  // How often watchers get changes.
  duration live_period{500ms};
};

}  // namespace coxswain::status_page
