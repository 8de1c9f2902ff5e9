#pragma once
// The target of a request: the decoded path, and the query parameters.

#include "coxswain/base/status.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::status_page {

class target {
 public:
  // INVALID_ARGUMENT: it does not begin with a slash, a percent sign is not followed by two
  // hexadecimal digits, or the result is not text (a NUL, or not UTF-8).
  [[nodiscard]] static result<target> parse(std::string_view text);

  // "/api/v1/keys/a/b": begins with a slash.
  [[nodiscard]] std::string const& path() const noexcept { return path_; }

  // The first parameter of this name. One without a value is empty.
  [[nodiscard]] std::optional<std::string> query(std::string_view name) const;

 private:
  std::string path_;
  std::vector<std::pair<std::string, std::string>> query_;
};

}  // namespace coxswain::status_page
