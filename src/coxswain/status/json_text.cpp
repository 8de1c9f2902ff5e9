// JSON as text. Boost.JSON's own writes 339.512 as 3.39512E2.

#include "coxswain/status/json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

namespace coxswain::status_page {
namespace {

// Above this, digits for each place would be digits of noise.
constexpr double plain_max = 1e15;

constexpr std::string_view hexadecimal_digits{"0123456789abcdef"};

void add(std::string& to, json::value const& v);

template <class Number>
void add_integer(std::string& to, Number n) {
  std::array<char, 24> digits{};
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), n).ptr;
  to.append(digits.data(), end);
}

// The fewest digits that identify the number.
void add_double(std::string& to, double d) {
  if (!std::isfinite(d)) {
    to += "null";  // JSON has no such numbers
    return;
  }
  std::array<char, 32> digits{};
  auto const format =
      std::fabs(d) < plain_max ? std::chars_format::fixed : std::chars_format::scientific;
  auto const written = std::to_chars(digits.data(), digits.data() + digits.size(), d, format);
  // Tiny ones have too many zeros.
  auto const end = written.ec == std::errc{}
                       ? written.ptr
                       : std::to_chars(digits.data(), digits.data() + digits.size(), d).ptr;
  to.append(digits.data(), end);
}

void add_escaped(std::string& to, char c) {
  switch (c) {
    case '"': to += "\\\""; return;
    case '\\': to += "\\\\"; return;
    case '\b': to += "\\b"; return;
    case '\f': to += "\\f"; return;
    case '\n': to += "\\n"; return;
    case '\r': to += "\\r"; return;
    case '\t': to += "\\t"; return;
    default: break;
  }
  auto const byte = static_cast<unsigned char>(c);
  to += "\\u00";
  to += hexadecimal_digits[byte / 16];
  to += hexadecimal_digits[byte % 16];
}

void add_string(std::string& to, std::string_view text) {
  to += '"';
  std::size_t written = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) >= 0x20 && text[i] != '"' && text[i] != '\\') continue;
    to.append(text, written, i - written);
    add_escaped(to, text[i]);
    written = i + 1;
  }
  to.append(text, written);
  to += '"';
}

void add(std::string& to, json::object const& members) {
  to += '{';
  for (auto const& [name, value] : members) {
    if (to.back() != '{') to += ',';
    add_string(to, {name.data(), name.size()});
    to += ':';
    add(to, value);
  }
  to += '}';
}

void add(std::string& to, json::array const& values) {
  to += '[';
  for (auto const& value : values) {
    if (&value != values.data()) to += ',';
    add(to, value);
  }
  to += ']';
}

void add(std::string& to, json::value const& v) {
  switch (v.kind()) {
    case json::kind::null: to += "null"; return;
    case json::kind::bool_: to += v.get_bool() ? "true" : "false"; return;
    case json::kind::int64: return add_integer(to, v.get_int64());
    case json::kind::uint64: return add_integer(to, v.get_uint64());
    case json::kind::double_: return add_double(to, v.get_double());
    case json::kind::string: return add_string(to, {v.get_string().data(), v.get_string().size()});
    case json::kind::array: return add(to, v.get_array());
    case json::kind::object: return add(to, v.get_object());
  }
}

}  // namespace

std::string serialized(json::value const& what) {
  std::string text;
  add(text, what);
  return text;
}

std::string serialized(json::object const& members) {
  std::string text;
  add(text, members);
  return text;
}

std::string serialized(json::array const& values) {
  std::string text;
  add(text, values);
  return text;
}

}  // namespace coxswain::status_page
