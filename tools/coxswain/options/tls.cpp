#include "options/tls.hpp"

#include "options/command_line.hpp"

namespace coxswain::tools {
namespace {

void add_file(CLI::App& to, std::string const& name, std::string& into, std::string const& help) {
  to.add_option(name, into, help)->type_name("FILE");
}

void add_prefix(CLI::App& to, tls_options& into, std::string const& help) {
  to.add_option("--tls-peer-uri-prefix", into.peer_uri_prefix, help)->type_name("PREFIX");
}

}  // namespace

void add_tls_options(CLI::App& to, tls_options& into) {
  add_file(to, "--tls-ca", into.ca,
           "Use TLS, and require a coordinator's certificate signed by one of these authorities "
           "(PEM)");
  add_file(to, "--tls-cert", into.cert, "Certificate chain to present to the coordinator (PEM)");
  add_file(to, "--tls-key", into.key, "Its private key (PEM, no passphrase)");
  add_prefix(to, into,
             "Require a URI name with this prefix, such as spiffe://cluster/job/, instead of the "
             "host's name");
}

void add_tls_listener_options(CLI::App& to, tls_options& into) {
  to.option_defaults()->group("TLS");
  add_file(to, "--tls-cert", into.cert,
           "Certificate chain to present (PEM); requires TLS of all connections except Unix "
           "sockets");
  add_file(to, "--tls-key", into.key, "Its private key (PEM, no passphrase)");
  add_file(to, "--tls-ca", into.ca,
           "Require client certificates signed by one of these authorities (PEM)");
  add_prefix(to, into,
             "Require a URI name with this prefix in them, such as spiffe://cluster/job/");
  to.add_option_function<std::string>(
        "--tls-min",
        [&into](std::string const& least) {
          into.min = least == "1.2" ? tls_version::v1_2 : tls_version::v1_3;
        },
        "Oldest TLS version to accept")
      ->type_name("VERSION")
      ->check(one_of({"1.2", "1.3"}))
      ->default_str("1.3");
  add_duration(to, "--tls-reload-period", into.reload_period,
               "How often to check the files for changes", {.least = 1s});
  to.option_defaults()->group("Options");
}

std::vector<std::pair<std::string, std::string>> tls_variables(tls_options const& of) {
  return {{"COXSWAIN_TLS_CA", of.ca},
          {"COXSWAIN_TLS_CERT", of.cert},
          {"COXSWAIN_TLS_KEY", of.key},
          {"COXSWAIN_TLS_PEER_URI_PREFIX", of.peer_uri_prefix}};
}

}  // namespace coxswain::tools
