#pragma once
// Texts for people about certificates and TLS errors.

#include "coxswain/base/status.hpp"

#include <string>
#include <string_view>

struct ssl_st;             // OpenSSL's SSL
struct x509_st;            // OpenSSL's X509
struct x509_store_ctx_st;  // OpenSSL's X509_STORE_CTX

namespace coxswain::net {

// A connection's requirements for its peer's certificate, and its objection.
struct peer_check {
  std::string_view uri_prefix;  // see tls_options; its owner outlives the connection
  std::string host;             // for a client: the name of the server it connected to
  std::string objection;        // "It has expired (CN = ...)."
};

// Attaches a check, which outlives it, to a connection; and the function for SSL_CTX_set_verify,
// which uses it.
void attach(ssl_st* to, peer_check& what);
int check_peer(int is_fine, x509_store_ctx_st* chain) noexcept;

// "CN = worker, valid until Nov 22 05:00:00 2027 GMT".
[[nodiscard]] std::string certificate_text(x509_st* certificate);

// The meaning of `error`, the first of OpenSSL's list of errors; zero if there is none.
//   UNAUTHENTICATED      either side rejected a certificate
//   FAILED_PRECONDITION  the peer does not use TLS, or there is no common version
//   UNAVAILABLE          anything else
[[nodiscard]] status tls_problem(unsigned long error, peer_check const& peer);

}  // namespace coxswain::net
