#pragma once
// The page at `/`: one HTML text that needs nothing else but the feed. Made of what is in site/.

#include <string_view>

namespace coxswain::status_page {

[[nodiscard]] std::string_view site() noexcept;

// The Content-Security-Policy that lets the page do what it does, and nothing else.
[[nodiscard]] std::string_view site_policy() noexcept;

}  // namespace coxswain::status_page
