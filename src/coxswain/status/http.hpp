#pragma once
// A request and its response, as the routes see them. Not here: HTTP's bytes (http_connection).

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/status/text_pool.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::status_page {

struct http_request {
  std::string method;
  std::string target;
  std::optional<std::string> host;  // exactly one, unless it is HTTP/1.0
  std::optional<std::string> origin;
  std::string authorization;
  std::string cookie;
  std::string content_type;
  std::string body;
  std::string peer;
  bool is_certified{};  // it has presented a required certificate
};

inline constexpr std::string_view json_type = "application/json";
inline constexpr std::string_view plain_type = "text/plain; charset=utf-8";

struct http_answer {
  unsigned code{200};
  std::string_view content_type{json_type};
  text_ptr body;
  std::vector<std::pair<std::string, std::string>> fields{};
  // It may be sent only when the journal has all inputs so far.
  bool awaits_durability{};
  // Called once the response is being sent; may be empty.
  std::function<void()> afterwards{};
};

// Whether the target is a probe of orchestrators: /livez, /readyz or /healthz.
[[nodiscard]] bool is_probe(std::string_view target) noexcept;

// The HTTP status of this code.
[[nodiscard]] unsigned http_code(errc code) noexcept;

// {"code":"NOT_FOUND","message":"..."} and the end of the line.
[[nodiscard]] std::string error_json(status const& why);

// Parses a duration such as "10m", "1.5h", "90s" or "500ms". INVALID_ARGUMENT: it is malformed, or
// more than a thousand years.
[[nodiscard]] result<duration> duration_of(std::string_view text);

}  // namespace coxswain::status_page
