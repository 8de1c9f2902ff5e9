#pragma once
// gzip (RFC 1952) in memory, by zlib. Not here: which messages are compressed (message_decoder).

#include "coxswain/base/status.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace coxswain::http2 {

// Decompresses. RESOURCE_EXHAUSTED: the content exceeds `bytes_max` bytes; no larger buffer is ever
// allocated. INTERNAL: the input is not gzip, is truncated, or has trailing bytes.
[[nodiscard]] result<std::string> gunzip(std::string_view compressed, std::size_t bytes_max);

// Throws std::bad_alloc.
[[nodiscard]] std::string gzip(std::string_view content);

}  // namespace coxswain::http2
