#include "coxswain/http2/status_fields.hpp"

#include "coxswain/http2/base64.hpp"
#include "coxswain/http2/percent.hpp"

namespace coxswain::http2 {
namespace {

// :status, content-type, grpc-status, grpc-accept-encoding and the two names, each with 32 more.
constexpr std::size_t other_fields_bytes = 400;

}  // namespace

status_fields::status_fields(errc code_, std::string_view text, std::string_view details_)
    : code{std::to_string(static_cast<int>(code_))},
      details{details_.size() <= details_bytes_max ? to_base64(details_) : std::string{}} {
  message = percent_encoded(text, header_block_bytes_max - other_fields_bytes - details.size());
}

errc errc_of_http(int http_status) noexcept {
  switch (http_status) {
    case 400: return errc::internal;
    case 401: return errc::unauthenticated;
    case 403: return errc::permission_denied;
    case 404: return errc::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504: return errc::unavailable;
    default: return errc::unknown;
  }
}

}  // namespace coxswain::http2
