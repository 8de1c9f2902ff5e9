#include "coxswain/status/page_listener.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/socket.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::status_page {
namespace {

// With tokens, certificates or `insecure`, other hosts may reach the page.
bool may_be_public(options const& o) {
  bool const asks_for_token = !o.credentials.empty() && !o.anyone_may_look;
  return asks_for_token || !o.tls.ca.empty() || o.insecure;
}

// A port without a host means all addresses if other hosts may reach the page, else this host.
std::string with_host(options const& o) {
  auto const& given = o.listen;
  bool const is_port = !given.empty() && given.find_first_not_of("0123456789") == std::string::npos;
  auto const address = is_port ? ':' + given : given;
  return address.starts_with(':') && !may_be_public(o) ? "127.0.0.1" + address : address;
}

coxswain::status cannot_listen(net::endpoint const& where,
                               boost::system::error_code const& problem) {
  auto text = "Cannot listen on " + where.text() + " for HTTP: " + problem.message() + '.';
  if (problem == asio::error::address_in_use) {
    text += " Port 0 takes any free port. Who listens there: ss -ltnp 'sport = :" +
            std::to_string(where.port()) + "'";
  }
  return {errc::unavailable, std::move(text)};
}

asio::ip::tcp::endpoint endpoint_of(net::socket_address const& at) {
  asio::ip::tcp::endpoint to;
  to.resize(at.size());
  std::copy_n(reinterpret_cast<char const*>(at.data()), at.size(),
              reinterpret_cast<char*>(to.data()));
  return to;
}

// Further addresses are tried only if this host does not have those before.
asio::ip::tcp::acceptor listen_on(asio::io_context& io, net::endpoint const& where,
                                  std::vector<net::socket_address> const& all) {
  boost::system::error_code problem;
  for (auto const& address : all) {
    auto const at = endpoint_of(address);
    asio::ip::tcp::acceptor made{io};
    made.open(at.protocol(), problem);
    if (!problem) made.set_option(asio::socket_base::reuse_address{true}, problem);
    // All addresses are those of IPv4, too.
    bool const is_for_all = at.address().is_v6() && where.host().empty();
    int const off = 0;
    if (!problem && is_for_all) {
      ::setsockopt(made.native_handle(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    }
    if (!problem) made.bind(at, problem);
    if (!problem) made.listen(asio::socket_base::max_listen_connections, problem);
    if (!problem) return made;
    bool const is_elsewhere = problem == asio::error::address_family_not_supported ||
                              problem == boost::system::errc::address_not_available;
    if (!is_elsewhere) break;
  }
  throw error{cannot_listen(where, problem)};
}

}  // namespace

asio::ip::tcp::acceptor listener_at(asio::io_context& io, options const& o) {
  auto const where = net::endpoint::parse(with_host(o)).value();
  if (where.is_unix()) {
    throw error{{errc::invalid_argument,
                 "The status page needs a host and a port, not " + where.text() + "."}};
  }
  auto const all = where.resolve(net::endpoint::purpose::listen).value();
  if (!all.front().is_private() && !may_be_public(o)) {
    throw error{{errc::failed_precondition,
                 "Other hosts can reach the status page at " + where.text() +
                     ", and neither a token nor client certificates protect it. Configure a "
                     "token or mutual TLS, listen on 127.0.0.1 or [::1], or allow it explicitly "
                     "(insecure)."}};
  }
  return listen_on(io, where, all);
}

authenticator::access access_of(options const& o, asio::ip::tcp::endpoint const& at) {
  return {at.address().is_loopback(), o.tls.is_wanted(), !o.tls.ca.empty(), at.port(),
          o.anyone_may_look};
}

std::string text_of(asio::ip::tcp::endpoint const& at) {
  return net::socket_address{at.data(), static_cast<socklen_t>(at.size())}.text();
}

}  // namespace coxswain::status_page
