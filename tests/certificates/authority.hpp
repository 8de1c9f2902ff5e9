#pragma once
// A certificate authority for tests: it generates its keys when created, and nothing
// else trusts it. Its files are in its own directory, which it removes.

#include "coxswain/net/tls_options.hpp"

#include <openssl/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

namespace coxswain::certificates {

// The contents of a certificate.
struct content {
  std::string name{"somebody"};
  std::string names{"DNS:localhost,IP:127.0.0.1"};  // as OpenSSL writes them; may be empty
  std::chrono::hours begins{-1};                    // from now
  std::chrono::hours ends{24};
};

class authority {
 public:
  // Throws std::runtime_error, as do all functions below.
  explicit authority(std::string const& name = "test authority");
  ~authority();
  authority(authority const&) = delete;
  authority& operator=(authority const&) = delete;

  // The files of a side that presents such a certificate, signed by this authority, and trusts this
  // authority. Each call makes new files, or replaces those of `at` if given.
  [[nodiscard]] tls_options issue(content const& what, tls_options const* at = nullptr) const;

  // The file with its own certificate.
  [[nodiscard]] std::string file() const { return (directory_ / "authority.pem").string(); }

 private:
  using key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;
  using certificate = std::unique_ptr<X509, void (*)(X509*)>;

  [[nodiscard]] certificate sign(content const& what, EVP_PKEY* subject, bool is_authority) const;

  std::filesystem::path directory_;
  std::string name_;
  key key_;
  certificate own_;
  mutable int issued_{};
};

}  // namespace coxswain::certificates
