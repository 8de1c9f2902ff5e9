#include "coxswain/server/dispatch/line.hpp"

#include "coxswain/server/dispatch/grpc_line.hpp"
#include "coxswain/server/dispatch/trunk_line.hpp"

#include <utility>

namespace coxswain::server {

line::line(meter_ptr memory, std::size_t queued_bytes_max)
    : decoder{core::hello_frame_bytes_max, unasked_max, memory.get()},
      out{std::move(memory), queued_bytes_max} {}

line::~line() = default;

}  // namespace coxswain::server
