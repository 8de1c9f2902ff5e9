#include "coxswain/server/recording/hmac_sha256.hpp"

#include "coxswain/base/error.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>

namespace coxswain::server {
namespace {

unsigned char const* bytes_in(std::string_view text) noexcept {
  return reinterpret_cast<unsigned char const*>(text.data());
}

}  // namespace

hmac_sha256::hmac_sha256(std::string_view key) {
  char name[] = "SHA256";
  OSSL_PARAM const options[] = {::OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
                                ::OSSL_PARAM_construct_end()};
  EVP_MAC* const mac = ::EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr);
  context_.reset(::EVP_MAC_CTX_new(mac));
  ::EVP_MAC_free(mac);
  bool const is_ready =
      context_ && ::EVP_MAC_init(context_.get(), bytes_in(key), key.size(), options) == 1;
  if (!is_ready) throw error{{errc::internal, "OpenSSL has no HMAC-SHA256."}};
}

void hmac_sha256::deleter::operator()(evp_mac_ctx_st* context) const noexcept {
  ::EVP_MAC_CTX_free(context);
}

std::array<unsigned char, 16> hmac_sha256::operator()(std::string_view text) const {
  std::array<unsigned char, 32> whole{};
  std::size_t size = 0;
  ::EVP_MAC_init(context_.get(), nullptr, 0, nullptr);
  ::EVP_MAC_update(context_.get(), bytes_in(text), text.size());
  ::EVP_MAC_final(context_.get(), whole.data(), &size, whole.size());
  std::array<unsigned char, 16> half;
  std::copy_n(whole.begin(), half.size(), half.begin());
  return half;
}

}  // namespace coxswain::server
