#pragma once
// What a certificate says, and what is wrong between two sides of TLS, for people.

#include "coxswain/base/status.hpp"

#include <string>
#include <string_view>

struct ssl_st;             // OpenSSL's SSL
struct x509_st;            // OpenSSL's X509
struct x509_store_ctx_st;  // OpenSSL's X509_STORE_CTX

namespace coxswain::net {

// What one connection wants of its peer's certificate, and what it has against it.
struct peer_check {
  std::string_view uri_prefix;  // see tls_options; whoever owns it outlives the connection
  std::string host;             // the name that the peer was reached by; a client's
  std::string objection;        // "It has expired (CN = ...)."
};

// Gives a connection its check, which outlives it; and the function for SSL_CTX_set_verify, which
// works with that.
void attach(ssl_st* to, peer_check& what);
int check_peer(int is_fine, x509_store_ctx_st* chain) noexcept;

// "CN = worker, valid until Nov 22 05:00:00 2027 GMT".
[[nodiscard]] std::string certificate_text(x509_st* certificate);

// What `error` means, the first of OpenSSL's list of errors; zero if there is none.
//   UNAUTHENTICATED      a certificate was refused, by this side or by the other one
//   FAILED_PRECONDITION  the peer speaks no TLS, or no version that both know
//   UNAVAILABLE          anything else
[[nodiscard]] status tls_problem(unsigned long error, peer_check const& peer);

}  // namespace coxswain::net
