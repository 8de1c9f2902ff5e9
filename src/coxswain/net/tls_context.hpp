#pragma once
// The loaded certificates of one side, for new TLS connections. Not here: a connection
// (tls_stream), and when files are reloaded (server, client).
//
// Not thread-safe. Must outlive the streams that are made with it.

#include "coxswain/net/tls_options.hpp"

#include <memory>
#include <string>

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace coxswain::net {

class tls_context {
 public:
  enum class side { server, client };

  // Reads the files. Throws coxswain::error: INVALID_ARGUMENT (a required file is not named, the
  // prefix does not end with "/", a file has the wrong content, key and certificate do not match);
  // NOT_FOUND, PERMISSION_DENIED or UNAVAILABLE (a file cannot be read). The text names the file.
  tls_context(side which, tls_options given);
  tls_context(tls_context const&) = delete;
  tls_context& operator=(tls_context const&) = delete;

  // Reads the files again, for new connections; true if the certificate has changed. Throws as the
  // constructor does; then the previous content stays in use.
  bool reload();

  [[nodiscard]] tls_options const& options() const noexcept { return options_; }
  [[nodiscard]] ssl_ctx_st* native() const noexcept { return loaded_.get(); }

  // The subject of the certificate and its validity: "CN = coordinator, valid until Nov 22 05:00:00
  // 2027 GMT". "no certificate" if this side has none.
  [[nodiscard]] std::string shown() const;

 private:
  [[nodiscard]] std::shared_ptr<ssl_ctx_st> load() const;

  side side_;
  tls_options options_;
  std::shared_ptr<ssl_ctx_st> loaded_;
};

}  // namespace coxswain::net
