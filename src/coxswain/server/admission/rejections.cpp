#include "coxswain/server/admission/rejections.hpp"

#include "coxswain/wire/codec.hpp"

#include <utility>

namespace coxswain::server {
namespace {

std::string goodbye_frame(status why, bool may_come_again, std::string address = {}) {
  core::answer what;
  core::goodbye bye{std::move(why), may_come_again};
  bye.address = std::move(address);
  what.value = std::move(bye);
  auto const encoded = wire::encode(what);
  std::string frame;
  wire::append_server_head(frame, request_id{}, encoded.size());
  return frame.append(encoded.head).append(encoded.tail.view());
}

}  // namespace

std::string no_room(std::size_t most) {
  return goodbye_frame(
      {errc::resource_exhausted, "The coordinator has " + std::to_string(most) +
                                     " connections, its limit connections_max. Raise the limit of "
                                     "open files where it runs (ulimit -n), or --connections-max "
                                     "if that was given."},
      true);
}

std::string no_route(std::size_t most) {
  return goodbye_frame(
      {errc::resource_exhausted,
       "The relay has " + std::to_string(most) +
           " connections, the limit of routes over one trunk. Start another relay for the other "
           "tasks, or give them the coordinator's address."},
      true);
}

std::string gives_way() {
  return goodbye_frame({errc::resource_exhausted,
                        "The coordinator had no place left for a connection that sent nothing, and "
                        "closed this one to make room for others."},
                       true);
}

std::string speaks_tls_only() {
  return goodbye_frame({errc::failed_precondition,
                        "The coordinator speaks only TLS here, and this client does not. Name the "
                        "authorities whose certificates it accepts (tls.ca, --tls-ca)."},
                       false);
}

std::string standby_says(std::string const& job, std::string const& leader) {
  auto const known = leader.empty() ? std::string{"nobody leads it now"} : leader + " leads it";
  return goodbye_frame({errc::unavailable, "This is a standby of the coordinator of job '" + job +
                                               "': " + known + "."},
                       true, leader);
}

std::string leads_no_more(std::string const& why) {
  return goodbye_frame(
      {errc::unavailable, "This coordinator does not lead its job any more: " + why}, true);
}

std::string_view no_http() {
  constexpr std::string_view words =
      "This is the port of a Coxswain coordinator, which does not speak HTTP.\n"
      "Its status page has an address of its own: see --http of coxswain serve and coxswain run.\n"
      "Without one, look at the job with: coxswain status --address HOST:PORT\n"
      "and --tls-ca FILE where the coordinator speaks TLS.\n";
  static std::string const response =
      "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: " +
      std::to_string(words.size()) + "\r\nConnection: close\r\n\r\n" + std::string{words};
  return response;
}

std::string speaks_http_only(std::vector<std::string> const& addresses) {
  std::string at;
  for (auto const& address : addresses) at += (at.empty() ? "" : " or ") + address;
  std::string const coordinator = at.empty() ? "" : " The coordinator itself is at " + at + ".";
  return goodbye_frame(
      {errc::failed_precondition,
       "This is the port of the coordinator's status page, which speaks HTTP." + coordinator},
      false);
}

}  // namespace coxswain::server
