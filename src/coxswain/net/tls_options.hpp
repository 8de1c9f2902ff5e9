#pragma once
// The certificate of one side of TLS connections, and the authorities it trusts. Part of
// server::options and client_options. All files are PEM; they are read again while the program
// runs, so that certificates can be replaced without a restart (semantics 2.70 to 2.73).

#include "coxswain/base/time.hpp"

#include <string>

namespace coxswain {

struct tls_options {
  // This side's certificate, followed by intermediate ones; and its private key, without a
  // passphrase. A server needs both. A client needs both or none: with them it can authenticate to
  // a server that requires it.
  std::string certificate_file;
  std::string key_file;

  // The authorities, one of which must have signed the peer's certificate. A client needs them. A
  // server that has them requires a certificate of every client (mutual TLS).
  std::string authorities_file;

  // If set, the peer's certificate must have a URI name that begins with this, such as
  // "spiffe://cluster/job/"; it ends with "/". A client then does not compare the server's
  // certificate with its host name.
  std::string peer_uri_prefix;

  // Allow TLS 1.2 as well; otherwise only 1.3.
  bool allows_tls_1_2{false};

  // How often a server checks the files for changes. A client reads them whenever it connects.
  time_limit reload_period{600s};

  // Whether TLS is used at all.
  [[nodiscard]] bool is_wanted() const noexcept {
    return !certificate_file.empty() || !key_file.empty() || !authorities_file.empty() ||
           !peer_uri_prefix.empty();
  }
};

}  // namespace coxswain
