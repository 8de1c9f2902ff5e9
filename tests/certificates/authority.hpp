#pragma once
// A certificate authority for tests and benchmarks: it makes what it needs on the spot, and is
// trusted by nobody else. Its files lie in a directory of its own, which goes with it.

#include "coxswain/net/tls_options.hpp"

#include <openssl/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

namespace coxswain::certificates {

// What a certificate says.
struct content {
  std::string name{"somebody"};
  std::string names{"DNS:localhost,IP:127.0.0.1"};  // as OpenSSL writes them; may be empty
  std::chrono::hours begins{-1};                    // from now
  std::chrono::hours ends{24};
};

class authority {
 public:
  // Throws std::runtime_error, as all that follow do.
  explicit authority(std::string const& name = "test authority");
  ~authority();
  authority(authority const&) = delete;
  authority& operator=(authority const&) = delete;

  // What a side needs that shows such a certificate, signed by this authority, and believes this
  // authority. Each call makes new files; or replaces those of `at`, if it is given.
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
