#include "tests/certificates/authority.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace coxswain::certificates {
namespace {

void require(bool holds, char const* what) {
  if (!holds) throw std::runtime_error{std::string{"no certificate could be made: "} + what};
}

std::filesystem::path make_directory() {
  auto path = (std::filesystem::temp_directory_path() / "coxswain-tls-XXXXXX").string();
  require(::mkdtemp(path.data()) != nullptr, "mkdtemp");
  return path;
}

class pem_file {
 public:
  explicit pem_file(std::filesystem::path const& at) : file_{std::fopen(at.c_str(), "we")} {
    require(file_ != nullptr, at.c_str());
  }
  ~pem_file() { std::fclose(file_); }
  pem_file(pem_file const&) = delete;
  pem_file& operator=(pem_file const&) = delete;

  void add(X509* certificate) { require(PEM_write_X509(file_, certificate) == 1, "PEM"); }
  void add(EVP_PKEY* key) {
    int const written = PEM_write_PrivateKey(file_, key, nullptr, nullptr, 0, nullptr, nullptr);
    require(written == 1, "PEM");
  }

 private:
  std::FILE* file_;
};

void add_extension(X509* to, X509* issuer, int what, std::string const& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> const made{
      X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()), &X509_EXTENSION_free};
  require(made && X509_add_ext(to, made.get(), -1) == 1, value.c_str());
}

void set_name(X509_NAME* of, std::string const& name) {
  auto const* const bytes = reinterpret_cast<unsigned char const*>(name.c_str());
  require(X509_NAME_add_entry_by_txt(of, "CN", MBSTRING_ASC, bytes, -1, -1, 0) == 1, "its name");
}

}  // namespace

authority::authority(std::string const& name)
    : directory_{make_directory()},
      name_{name},
      key_{EVP_EC_gen("P-256"), &EVP_PKEY_free},
      own_{nullptr, &X509_free} {
  require(key_ != nullptr, "its key");
  own_ = sign({name, "", std::chrono::hours{-24}, std::chrono::hours{240}}, key_.get(), true);
  pem_file{file()}.add(own_.get());
}

authority::~authority() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

tls_options authority::issue(content const& what, tls_options const* at) const {
  key const subject{EVP_EC_gen("P-256"), &EVP_PKEY_free};
  require(subject != nullptr, "its key");
  auto const made = sign(what, subject.get(), false);
  tls_options files;
  if (at != nullptr) {
    files = *at;
  } else {
    auto const stem = (directory_ / std::to_string(issued_)).string();
    files.cert = stem + ".pem";
    files.key = stem + ".key";
    files.ca = file();
  }
  pem_file{files.cert}.add(made.get());
  pem_file{files.key}.add(subject.get());
  return files;
}

authority::certificate authority::sign(content const& what, EVP_PKEY* subject,
                                       bool is_authority) const {
  certificate made{X509_new(), &X509_free};
  require(made != nullptr, "memory");
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++issued_);
  auto const seconds = [](std::chrono::hours h) {
    return static_cast<long>(std::chrono::seconds{h}.count());
  };
  X509_gmtime_adj(X509_getm_notBefore(made.get()), seconds(what.begins));
  X509_gmtime_adj(X509_getm_notAfter(made.get()), seconds(what.ends));
  X509_set_pubkey(made.get(), subject);
  set_name(X509_get_subject_name(made.get()), what.name);
  set_name(X509_get_issuer_name(made.get()), name_);
  auto* const issuer = is_authority ? made.get() : own_.get();
  add_extension(made.get(), issuer, NID_basic_constraints,
                is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!what.names.empty()) add_extension(made.get(), issuer, NID_subject_alt_name, what.names);
  require(X509_sign(made.get(), key_.get(), EVP_sha256()) != 0, "its signature");
  return made;
}

}  // namespace coxswain::certificates
