#pragma once
// The coordinator's keys for those of torch's stores, and back. coxswain.Store in Python has the
// same mapping, so that both see each other's keys. Not here: values.

#include <string>
#include <string_view>

namespace coxswain::tcp_store {

// The directory of all of them.
inline constexpr std::string_view directory = "torch";

// A TCPStore puts a slash before each of its user's keys; those without one are its own.
[[nodiscard]] std::string path_of(std::string_view key);

// The key that exists once the barrier of this name is complete. It is not below `directory`.
[[nodiscard]] std::string barrier_path_of(std::string_view key);

// The inverse of path_of.
[[nodiscard]] std::string key_of(std::string_view path);

}  // namespace coxswain::tcp_store
