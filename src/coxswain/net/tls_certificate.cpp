#include "coxswain/net/tls_certificate.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <exception>
#include <memory>

namespace coxswain::net {
namespace {

using names = std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)>;

names names_of(X509* certificate) {
  auto* const found = X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr);
  return {static_cast<GENERAL_NAMES*>(found), &GENERAL_NAMES_free};
}

std::string_view text_of(ASN1_STRING const* text) {
  return {reinterpret_cast<char const*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

template <class Print>
std::string printed(Print print) {
  std::unique_ptr<BIO, decltype(&BIO_free)> const into{BIO_new(BIO_s_mem()), &BIO_free};
  if (!into) return {};
  print(into.get());
  char* begin = nullptr;
  auto const size = BIO_get_mem_data(into.get(), &begin);
  return {begin, static_cast<std::size_t>(size)};
}

// "DNS:b12, URI:spiffe://cluster/job/worker".
std::string names_text(X509* certificate) {
  auto const found = names_of(certificate);
  if (!found || sk_GENERAL_NAME_num(found.get()) == 0) return "none";
  std::string text;
  for (int i = 0; i < sk_GENERAL_NAME_num(found.get()); ++i) {
    auto* const name = sk_GENERAL_NAME_value(found.get(), i);
    text += text.empty() ? "" : ", ";
    text += printed([name](BIO* into) { GENERAL_NAME_print(into, name); });
  }
  return text;
}

bool has_uri_below(X509* certificate, std::string_view prefix) {
  auto const found = names_of(certificate);
  if (!found) return false;
  for (int i = 0; i < sk_GENERAL_NAME_num(found.get()); ++i) {
    auto const* const name = sk_GENERAL_NAME_value(found.get(), i);
    if (name->type == GEN_URI && text_of(name->d.uniformResourceIdentifier).starts_with(prefix)) {
      return true;
    }
  }
  return false;
}

std::string objection(int found, X509* certificate, peer_check const& peer) {
  switch (found) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "it is not for '" + peer.host +
             "', by which the peer was reached; its names: " + names_text(certificate);
    case X509_V_ERR_CERT_REJECTED:
      return "none of its URI names begins with '" + std::string{peer.uri_prefix} +
             "'; its names: " + names_text(certificate);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "none of the authorities that this side knows has signed it";
    case X509_V_ERR_CERT_HAS_EXPIRED: return "it has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID: return "it is not valid yet (are the clocks right?)";
    case X509_V_ERR_INVALID_PURPOSE: return "it is not meant for that side of TLS";
    default: return X509_verify_cert_error_string(found);
  }
}

// OpenSSL's number for an alert of the peer.
constexpr int alert(int number) { return SSL_AD_REASON_OFFSET + number; }

std::string_view peers_objection(int reason) {
  switch (reason) {
    case alert(TLS1_AD_UNKNOWN_CA):
    case alert(TLS1_AD_DECRYPT_ERROR):
      return "none of the authorities that it knows has signed this side's certificate";
    case alert(SSL3_AD_CERTIFICATE_EXPIRED): return "this side's certificate has expired";
    case alert(SSL3_AD_CERTIFICATE_REVOKED): return "this side's certificate was revoked";
    case alert(SSL3_AD_BAD_CERTIFICATE):
      return "this side's certificate does not have the name that it asks for";
    case alert(SSL3_AD_CERTIFICATE_UNKNOWN):
    case alert(SSL3_AD_UNSUPPORTED_CERTIFICATE):
      return "this side's certificate is not one that it accepts";
    case alert(TLS13_AD_CERTIFICATE_REQUIRED):
      return "it asks for a certificate, and this side has shown none";
    default: return {};
  }
}

bool is_no_tls(int reason) {
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_BAD_RECORD_TYPE:
    case SSL_R_UNEXPECTED_MESSAGE: return true;
    default: return false;
  }
}

bool is_version(int reason) {
  return reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_NO_PROTOCOLS_AVAILABLE ||
         reason == SSL_R_VERSION_TOO_LOW || reason == alert(TLS1_AD_PROTOCOL_VERSION);
}

// OpenSSL's index of our data of a connection. Not its "app data": Asio deletes that.
int slot_of_check() {
  static int const slot = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return slot;
}

}  // namespace

void attach(SSL* to, peer_check& what) { SSL_set_ex_data(to, slot_of_check(), &what); }

int check_peer(int is_fine, X509_STORE_CTX* chain) noexcept {
  auto const* const by = static_cast<SSL const*>(
      X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& peer = *static_cast<peer_check*>(SSL_get_ex_data(by, slot_of_check()));
  auto* const certificate = X509_STORE_CTX_get0_cert(chain);  // the peer's own
  auto* const at = X509_STORE_CTX_get_current_cert(chain);
  bool const is_leaf = at == certificate;
  try {
    if (is_fine != 0 && is_leaf && !peer.uri_prefix.empty() &&
        !has_uri_below(certificate, peer.uri_prefix)) {
      X509_STORE_CTX_set_error(chain, X509_V_ERR_CERT_REJECTED);
      is_fine = 0;
    }
    if (is_fine == 0) {
      peer.objection = objection(X509_STORE_CTX_get_error(chain), certificate, peer) + " (" +
                       certificate_text(certificate) + ")";
      if (!is_leaf && at != nullptr) peer.objection += ", because of " + certificate_text(at);
    }
  } catch (std::exception const&) {
    is_fine = 0;
  }
  return is_fine;
}

std::string certificate_text(X509* certificate) {
  return printed([certificate](BIO* into) {
    X509_NAME_print_ex(into, X509_get_subject_name(certificate), 0, XN_FLAG_ONELINE);
    BIO_puts(into, ", valid until ");
    ASN1_TIME_print(into, X509_get0_notAfter(certificate));
  });
}

status tls_problem(unsigned long error, peer_check const& peer) {
  int const reason = ERR_GET_REASON(error);
  auto const* const known = ERR_reason_error_string(error);
  std::string const text = known == nullptr ? "the connection was closed" : known;
  if (!peer.objection.empty()) {
    return {errc::unauthenticated, "The peer's certificate is refused: " + peer.objection + "."};
  }
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
    return {errc::unauthenticated, "The peer has shown no certificate."};
  }
  if (auto const objected = peers_objection(reason); !objected.empty()) {
    return {errc::unauthenticated,
            "The peer has refused the connection: " + std::string{objected} + "."};
  }
  if (is_no_tls(reason)) {
    return {errc::failed_precondition, "The peer does not speak TLS (" + text + ")."};
  }
  if (is_version(reason)) {
    return {errc::failed_precondition,
            "There is no version of TLS that both sides allow (" + text + ")."};
  }
  return {errc::unavailable, "TLS failed: " + text + "."};
}

}  // namespace coxswain::net
