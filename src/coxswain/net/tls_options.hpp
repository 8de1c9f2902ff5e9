#pragma once
// What one side of TLS connections shows of itself, and whom it believes. Part of server::options
// and client_options. All files are PEM; they are read again while the program runs, so that
// certificates can be replaced without a restart (semantics 2.70 to 2.73).

#include "coxswain/base/time.hpp"

#include <string>

namespace coxswain {

struct tls_options {
  // This side's certificate, followed by those between it and its authority; and its private key,
  // which has no passphrase. A server needs both. A client needs both or none: with them it can
  // show who it is to a server that asks.
  std::string certificate_file;
  std::string key_file;

  // The authorities of whom one must have signed the peer's certificate. A client needs them. A
  // server that has them asks every client for a certificate (mutual TLS).
  std::string authorities_file;

  // If set, the peer's certificate must have a URI name that begins with this, such as
  // "spiffe://cluster/job/"; it ends with "/". A client then does not compare the server's
  // certificate with the name under which it reached it.
  std::string peer_uri_prefix;

  // TLS 1.2, too; otherwise only 1.3.
  bool allows_tls_1_2{false};

  // How often a server looks whether the files have changed. A client reads them whenever it
  // connects.
  time_limit reload_period{600s};

  // Whether TLS is spoken at all.
  [[nodiscard]] bool is_wanted() const noexcept {
    return !certificate_file.empty() || !key_file.empty() || !authorities_file.empty() ||
           !peer_uri_prefix.empty();
  }
};

}  // namespace coxswain
