#include "coxswain/net/tls_context.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/tls_certificate.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace coxswain::net {
namespace {

[[noreturn]] void refuse(std::string text) {
  throw error{{errc::invalid_argument, std::move(text)}};
}

errc code_of(int file_error) {
  switch (file_error) {
    case ENOENT:
    case ENOTDIR: return errc::not_found;
    case EACCES:
    case EPERM: return errc::permission_denied;
    default: return errc::unavailable;
  }
}

// OpenSSL's own text is less helpful.
void require_readable(std::string const& file) {
  auto const close = [](std::FILE* f) { std::fclose(f); };
  std::unique_ptr<std::FILE, decltype(close)> const opened{std::fopen(file.c_str(), "re"), close};
  if (opened && std::fgetc(opened.get()) != EOF) return;
  if (opened && std::ferror(opened.get()) == 0) refuse("The file " + file + " is empty.");
  int const problem = errno;
  throw error{{code_of(problem), "Cannot read " + file + ": " + std::strerror(problem) + "."}};
}

// OpenSSL's last error, for people.
std::string noted() {
  auto const number = ERR_peek_last_error();
  auto const* const reason = ERR_reason_error_string(number);
  ERR_clear_error();
  return reason == nullptr ? "it is not understood" : reason;
}

// Without it OpenSSL would ask for a passphrase on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

void check(tls_context::side which, tls_options const& given) {
  bool const is_server = which == tls_context::side::server;
  if (given.cert.empty() != given.key.empty()) {
    refuse(given.key.empty() ? "TLS: a certificate is given without its private key."
                             : "TLS: a private key is given without its certificate.");
  }
  if (is_server && given.cert.empty()) {
    refuse("TLS: a server needs a certificate and its private key.");
  }
  if (given.ca.empty() && !is_server) {
    refuse("TLS: a client needs a file with the authorities whose certificates it accepts.");
  }
  if (given.peer_uri_prefix.empty()) return;
  if (given.ca.empty()) {
    refuse(
        "TLS: names of the peer are compared only in certificates that were verified, and no "
        "file with authorities is named.");
  }
  if (given.peer_uri_prefix.back() != '/') {
    refuse("TLS: the prefix of the peer's URI is '" + given.peer_uri_prefix +
           "', but must end with '/', so that it ends where a name does.");
  }
}

void use_certificate(SSL_CTX* into, tls_options const& given) {
  require_readable(given.cert);
  require_readable(given.key);
  if (SSL_CTX_use_certificate_chain_file(into, given.cert.c_str()) != 1) {
    refuse("TLS: " + given.cert + " has no certificate in PEM: " + noted() + ".");
  }
  if (SSL_CTX_use_PrivateKey_file(into, given.key.c_str(), SSL_FILETYPE_PEM) == 1) return;
  if (ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH) {
    ERR_clear_error();
    refuse("TLS: the private key in " + given.key + " does not belong to the certificate in " +
           given.cert + ".");
  }
  refuse("TLS: " + given.key + " has no private key in PEM without a passphrase: " + noted() + ".");
}

void believe(SSL_CTX* into, tls_options const& given) {
  require_readable(given.ca);
  if (SSL_CTX_load_verify_file(into, given.ca.c_str()) != 1) {
    refuse("TLS: " + given.ca + " has no certificates in PEM: " + noted() + ".");
  }
  SSL_CTX_set_verify(into, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, &check_peer);
}

// A gRPC client insists that its protocol is chosen; our own clients name none.
int choose_protocol(SSL*, unsigned char const** chosen, unsigned char* chosen_bytes,
                    unsigned char const* offered, unsigned offered_bytes, void*) {
  static constexpr unsigned char http2[] = {2, 'h', '2'};
  auto* out = const_cast<unsigned char*>(*chosen);
  int const found =
      SSL_select_next_proto(&out, chosen_bytes, http2, sizeof(http2), offered, offered_bytes);
  if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *chosen = out;
  return SSL_TLSEXT_ERR_OK;
}

X509* certificate_of(ssl_ctx_st* loaded) { return SSL_CTX_get0_certificate(loaded); }

}  // namespace

tls_context::tls_context(side which, tls_options given)
    : side_{which}, options_{std::move(given)}, loaded_{load()} {}

bool tls_context::reload() {
  auto fresh = load();
  auto const* const before = certificate_of(loaded_.get());
  auto const* const after = certificate_of(fresh.get());
  bool const is_new = before != nullptr && after != nullptr && X509_cmp(before, after) != 0;
  loaded_ = std::move(fresh);
  return is_new;
}

std::shared_ptr<ssl_ctx_st> tls_context::load() const {
  check(side_, options_);
  ERR_clear_error();
  bool const is_server = side_ == side::server;
  std::shared_ptr<ssl_ctx_st> made{
      SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method()), SSL_CTX_free};
  if (!made) throw error{{errc::internal, "TLS cannot be used: " + noted() + "."}};
  auto* const context = made.get();
  bool const is_old = options_.min == tls_version::v1_2;
  SSL_CTX_set_min_proto_version(context, is_old ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  // Buffers only while something is under way, and one read for several records.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN |
                                SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  // Sessions of ours are resumed by the protocol itself, and handshakes are rare.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_default_passwd_cb(context, &no_passphrase);
  if (is_server) SSL_CTX_set_alpn_select_cb(context, &choose_protocol, nullptr);
  if (!options_.cert.empty()) use_certificate(context, options_);
  if (!options_.ca.empty()) believe(context, options_);
  return made;
}

std::string tls_context::shown() const {
  auto* const own = certificate_of(loaded_.get());
  return own == nullptr ? "no certificate" : certificate_text(own);
}

}  // namespace coxswain::net
