#include "options/tls.hpp"

namespace coxswain::tools {
namespace {

void add_file(CLI::App& to, std::string const& name, std::string& into, std::string const& help) {
  to.add_option(name, into, help)->type_name("FILE");
}

}  // namespace

void add_tls_options(CLI::App& to, tls_options& into) {
  add_file(to, "--tls-ca", into.ca,
           "Use TLS, and require a coordinator's certificate signed by one of these authorities "
           "(PEM)");
  add_file(to, "--tls-cert", into.cert, "Certificate chain to present to the coordinator (PEM)");
  add_file(to, "--tls-key", into.key, "Its private key (PEM, no passphrase)");
  to.add_option("--tls-peer-uri-prefix", into.peer_uri_prefix,
                "Require a URI name with this prefix, such as spiffe://cluster/job/, instead of "
                "the host's name")
      ->type_name("PREFIX");
}

std::vector<std::pair<std::string, std::string>> tls_variables(tls_options const& of) {
  return {{"COXSWAIN_TLS_CA", of.ca},
          {"COXSWAIN_TLS_CERT", of.cert},
          {"COXSWAIN_TLS_KEY", of.key},
          {"COXSWAIN_TLS_PEER_URI_PREFIX", of.peer_uri_prefix}};
}

}  // namespace coxswain::tools
