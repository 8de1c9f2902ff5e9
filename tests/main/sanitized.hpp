#pragma once
// Whether this is a build with a sanitizer, which makes it slow and keeps freed memory.

#ifndef __has_feature  // clang's
#define __has_feature(name) 0
#endif

namespace coxswain::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace coxswain::test
