#pragma once
// The certificates of one side, loaded: what new TLS connections are made with. Not here: a
// connection (tls_stream), and when the files are read again (server, client).
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

  // Reads the files. Throws coxswain::error: INVALID_ARGUMENT (a file that the side needs is not
  // named, the prefix does not end with "/", a file has not the content that it should, key and
  // certificate do not belong together); NOT_FOUND, PERMISSION_DENIED or UNAVAILABLE (a file cannot
  // be read). The text names the file.
  tls_context(side which, tls_options given);
  tls_context(tls_context const&) = delete;
  tls_context& operator=(tls_context const&) = delete;

  // Reads the files again, for connections that are made from now on; true if the certificate has
  // changed. Throws as the constructor does; what was loaded before stays then.
  bool reload();

  [[nodiscard]] tls_options const& options() const noexcept { return options_; }
  [[nodiscard]] ssl_ctx_st* native() const noexcept { return loaded_.get(); }

  // Whose certificate it is and how long it is valid: "CN = coordinator, valid until Nov 22
  // 05:00:00 2027 GMT". "no certificate" if this side has none.
  [[nodiscard]] std::string shown() const;

 private:
  [[nodiscard]] std::shared_ptr<ssl_ctx_st> load() const;

  side side_;
  tls_options options_;
  std::shared_ptr<ssl_ctx_st> loaded_;
};

}  // namespace coxswain::net
