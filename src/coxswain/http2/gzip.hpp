#pragma once
// gzip (RFC 1952) in memory, by zlib. Not here: which messages are compressed (message_decoder).

#include "coxswain/base/status.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace coxswain::http2 {

// What was compressed. RESOURCE_EXHAUSTED: it has more than `bytes_max` bytes; no more than that,
// and what a buffer doubles to below it, is ever allocated. INTERNAL: it is no gzip, is cut off, or
// has something behind it.
[[nodiscard]] result<std::string> gunzip(std::string_view compressed, std::size_t bytes_max);

// Throws std::bad_alloc.
[[nodiscard]] std::string gzip(std::string_view content);

}  // namespace coxswain::http2
