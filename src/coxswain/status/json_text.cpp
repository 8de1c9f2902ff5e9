// JSON as text. Boost.JSON's own writes 339.512 as 3.39512E2.

#include "coxswain/status/json.hpp"

#include <boost/json/serialize.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <system_error>

namespace coxswain::status_page {
namespace {

// Above this, digits for each place would be digits of noise.
constexpr double plain_max = 1e15;

void add(std::string& to, json::value const& v);

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

void add(std::string& to, json::object const& members) {
  to += '{';
  for (auto const& [name, value] : members) {
    if (to.back() != '{') to += ',';
    to += json::serialize(json::value(name));
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
    case json::kind::double_: return add_double(to, v.get_double());
    case json::kind::array: return add(to, v.get_array());
    case json::kind::object: return add(to, v.get_object());
    default: to += json::serialize(v);
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
