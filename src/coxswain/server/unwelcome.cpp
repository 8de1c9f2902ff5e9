#include "coxswain/server/unwelcome.hpp"

#include "coxswain/wire/codec.hpp"

#include <utility>

namespace coxswain::server {
namespace {

std::string goodbye_frame(status why, bool may_come_again) {
  core::answer what;
  what.value = core::goodbye{std::move(why), may_come_again};
  auto const encoded = wire::encode(what);
  std::string frame;
  wire::append_server_head(frame, request_id{}, encoded.size());
  return frame.append(encoded.head).append(encoded.tail.view());
}

}  // namespace

std::string no_room(std::size_t most) {
  return goodbye_frame(
      {errc::resource_exhausted, "The coordinator has " + std::to_string(most) +
                                     " connections, which is its limit connections_max."},
      true);
}

std::string speaks_tls_only() {
  return goodbye_frame(
      {errc::failed_precondition,
       "The coordinator speaks only TLS here, and this client does not. Name the "
       "authorities whose certificates it accepts (tls.authorities_file, --tls-ca)."},
      false);
}

}  // namespace coxswain::server
