#pragma once
// The rules for the header fields of one request (RFC 9113, section 8), or of its trailers: a
// request that breaks one is malformed. Not here: what gRPC requires (server_session).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace coxswain::http2 {

class request_rules {
 public:
  explicit request_rules(bool is_trailers) noexcept : is_trailers_{is_trailers} {}

  // Whether the request may have this field after those before it.
  [[nodiscard]] bool allow(std::string_view name, std::string_view value) noexcept;

  // Whether all that is required was there.
  [[nodiscard]] bool are_complete() const noexcept;

  // The announced bytes of its body, if it says so.
  [[nodiscard]] std::optional<std::uint64_t> content_length() const noexcept {
    return content_length_;
  }

 private:
  [[nodiscard]] bool allow_pseudo(std::string_view name, std::string_view value) noexcept;

  bool is_trailers_;
  bool has_regular_{};
  bool has_host_{};
  std::uint8_t seen_{};  // a bit for each pseudo-header
  std::optional<std::uint64_t> content_length_;
};

}  // namespace coxswain::http2
