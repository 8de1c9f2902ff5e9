#include "coxswain/server/dispatch/line.hpp"

#include "coxswain/server/dispatch/grpc_line.hpp"
#include "coxswain/server/dispatch/tcp_store_line.hpp"
#include "coxswain/server/dispatch/trunk_line.hpp"

#include <utility>

namespace coxswain::server {

line::line(meter_ptr memory, std::size_t queued_bytes_max)
    : decoder{core::hello_frame_bytes_max, unasked_max, memory.get()},
      out{std::move(memory), queued_bytes_max} {}

line::~line() = default;

std::size_t line::asks_for() const noexcept {
  return tcp_store ? tcp_store->requests.asks_for() : decoder.asks_for();
}

bool line::allow() noexcept {
  if (!tcp_store) return decoder.allow();
  tcp_store->requests.allow();
  return true;
}

bool line::is_large() const noexcept {
  return tcp_store ? tcp_store->requests.is_large() : decoder.is_large();
}

}  // namespace coxswain::server
