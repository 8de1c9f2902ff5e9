#include "coxswain/status/target.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <charconv>

namespace coxswain::status_page {
namespace {

status malformed(std::string_view why) {
  return {errc::invalid_argument, "The address is malformed: " + std::string{why} + "."};
}

std::optional<char> byte_of(std::string_view digits) {
  unsigned char byte{};
  auto const* const end = digits.data() + digits.size();
  auto const [parsed, problem] = std::from_chars(digits.data(), end, byte, 16);
  if (digits.size() != 2 || problem != std::errc{} || parsed != end) return std::nullopt;
  return static_cast<char>(byte);
}

// In a query a plus sign means a space.
result<std::string> decoded(std::string_view text, bool is_query) {
  std::string found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      auto const byte = byte_of(text.substr(i + 1, 2));
      if (!byte) return malformed("two hexadecimal digits belong after a percent sign");
      found += *byte;
      i += 2;
    } else {
      found += is_query && text[i] == '+' ? ' ' : text[i];
    }
  }
  if (found.find('\0') != found.npos || !core::is_utf8(found)) {
    return malformed("it contains a NUL byte or is not UTF-8");
  }
  return found;
}

}  // namespace

result<target> target::parse(std::string_view text) {
  if (!text.starts_with('/')) return malformed("it begins with no slash");
  auto const mark = text.find('?');
  auto path = decoded(text.substr(0, mark), false);
  if (!path) return path.error();
  target found;
  found.path_ = *std::move(path);
  std::string_view rest = mark == text.npos ? std::string_view{} : text.substr(mark + 1);
  while (!rest.empty()) {
    auto const item = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    auto const equals = std::min(item.find('='), item.size());
    auto name = decoded(item.substr(0, equals), true);
    auto value = decoded(item.substr(std::min(equals + 1, item.size())), true);
    if (!name) return name.error();
    if (!value) return value.error();
    found.query_.emplace_back(*std::move(name), *std::move(value));
  }
  return found;
}

std::optional<std::string> target::query(std::string_view name) const {
  for (auto const& [known, value] : query_) {
    if (known == name) return value;
  }
  return std::nullopt;
}

}  // namespace coxswain::status_page
