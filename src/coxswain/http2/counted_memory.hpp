#pragma once
// The memory of one nghttp2 session, counted. It comes from operator new, so that a new-handler may
// find some when there is none.

#include <nghttp2/nghttp2.h>

#include <cstddef>

namespace coxswain::http2 {

// Allocates for a session and adds to `counter` what that takes; both outlive the session.
[[nodiscard]] nghttp2_mem counted_memory(std::size_t& counter) noexcept;

}  // namespace coxswain::http2
