#pragma once
// The page at `/`: one HTML text that needs only the feed. Built from site/.

#include <string_view>

namespace coxswain::status_page {

[[nodiscard]] std::string_view site() noexcept;

// The Content-Security-Policy that allows only what the page needs.
[[nodiscard]] std::string_view site_policy() noexcept;

}  // namespace coxswain::status_page
