#pragma once
// The certificate of one side of TLS connections, and the authorities it trusts. Part of
// server::options and client_options. All files are PEM; they are read again while the program
// runs, so that certificates can be replaced without a restart (§2.8.1 to §2.8.4).

#include "coxswain/base/time.hpp"

#include <cstdint>
#include <string>

namespace coxswain {

enum class tls_version : std::uint8_t { v1_2, v1_3 };

// Named as the command line, the environment and the other languages name them.
struct tls_options {
  // This side's certificate, followed by intermediate ones; and its private key, without a
  // passphrase. A server needs both. A client needs both or none: with them it can authenticate to
  // a server that requires it.
  std::string cert;
  std::string key;

  // The authorities, one of which must have signed the peer's certificate. A client needs them. A
  // server that has them requires a certificate of every client (mutual TLS).
  std::string ca;

  // If set, the peer's certificate must have a URI name that begins with this, such as
  // "spiffe://cluster/job/"; it ends with "/". A client then does not compare the server's
  // certificate with its host name.
  std::string peer_uri_prefix;

  // The oldest version to allow.
  tls_version min{tls_version::v1_3};

  // How often a server checks the files for changes. A client reads them whenever it connects.
  time_limit reload_period{600s};

  // Whether TLS is used at all.
  [[nodiscard]] bool is_wanted() const noexcept {
    return !cert.empty() || !key.empty() || !ca.empty() || !peer_uri_prefix.empty();
  }
};

}  // namespace coxswain
