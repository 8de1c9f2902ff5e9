#pragma once
// HMAC (RFC 2104) with SHA-256, by OpenSSL, whose algorithm is looked up once for each key.

#include <array>
#include <memory>
#include <string_view>

struct evp_mac_ctx_st;  // OpenSSL's EVP_MAC_CTX

namespace coxswain::server {

// Not thread-safe.
class hmac_sha256 {
 public:
  // Throws coxswain::error: INTERNAL, OpenSSL lacks it.
  explicit hmac_sha256(std::string_view key);

  // The first half.
  [[nodiscard]] std::array<unsigned char, 16> operator()(std::string_view text) const;

 private:
  struct deleter {
    void operator()(evp_mac_ctx_st* context) const noexcept;
  };

  std::unique_ptr<evp_mac_ctx_st, deleter> context_;
};

}  // namespace coxswain::server
