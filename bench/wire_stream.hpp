#pragma once
// The bytes of one of a load's connections, with TLS if its server speaks that: written patiently,
// read without waiting.

#include "address.hpp"

#include "coxswain/net/tls_stream.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include <sys/types.h>

namespace coxswain::bench {

class wire_stream {
 public:
  wire_stream() = default;

  // Takes over a connected, blocking socket; with certificates shakes hands. Throws bench_error.
  wire_stream(net::descriptor socket, net::tls_context const* certificates);

  // Negative after it was closed or moved from.
  [[nodiscard]] int fd() const noexcept { return socket_.value(); }

  // As ::send and ::recv with MSG_DONTWAIT; errno is set as they do. A read that does not fill
  // `into` has taken all there is.
  [[nodiscard]] ssize_t send(std::string_view bytes) noexcept;
  [[nodiscard]] ssize_t read(std::span<char> into) noexcept;

 private:
  net::descriptor socket_;
  std::unique_ptr<net::tls_stream> tls_;  // on the same socket
};

}  // namespace coxswain::bench
