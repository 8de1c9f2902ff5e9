#pragma once
// The id of a call within one connection.

#include "coxswain/base/ids.hpp"

#include <cstdint>

namespace coxswain::http2 {

using stream_id = id<struct stream_tag, std::int32_t>;

}  // namespace coxswain::http2
