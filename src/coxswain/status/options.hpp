#pragma once
// What a status page is told at its start.

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

  // The tokens, one of which a request must bring; none: everybody may do everything.
  std::vector<core::credential> credentials;

  // A request without a token may look, as a reader. The page is then for this host only, as it is
  // without credentials.
  bool anyone_may_look{false};

  // Listen on an address that others can reach although neither tokens nor certificates are asked
  // for.
  bool insecure{false};

  // If any of it is set, the page speaks HTTPS only. With authorities and without tokens, a
  // certificate that one of them has signed stands for a worker's token; probes and the page itself
  // need none.
  tls_options tls;

  // Beyond so many connections, further ones are answered once, with 503 unless they ask for a
  // probe (/livez, /readyz, /healthz). There are `probe_connections_max` of these at a time; a
  // newcomer beyond takes the place of the oldest of them.
  std::size_t connections_max{256};
  std::size_t probe_connections_max{32};

  // What a request may be long, and how long it may take to come, counted from its first byte or
  // from the beginning of the connection.
  std::size_t header_bytes_max{16 * 1024};
  std::size_t body_bytes_max{64 * 1024};
  duration request_timeout{10s};

  // How long a peer may take to read an answer; and how long it may keep a connection without
  // asking anything.
  duration answer_timeout{30s};
  duration idle_timeout{30s};

  // Texts that are on their way, all together: beyond, requests are refused.
  std::size_t text_bytes_max{64 * 1024 * 1024};

  // How old a picture of the job may be that is shown; one is shared by all who ask meanwhile.
  duration picture_age_max{200ms};

  // How often those who watch are told what has changed.
  duration live_period{500ms};
};

}  // namespace coxswain::status_page
