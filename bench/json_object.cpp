#include "json_object.hpp"

#include <fmt/format.h>

#include <cmath>

namespace coxswain::bench {
namespace {

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

std::string quoted(std::string_view text) {
  std::string out{'"'};
  for (auto const c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

template <class Values, class Text>
std::string list_of(Values const& values, Text const& text) {
  std::string list;
  for (auto const& v : values) list += (list.empty() ? "" : ", ") + text(v);
  return "[" + list + "]";
}

}  // namespace

void json_object::add(std::string_view key, double value) { add_raw(key, number(value)); }

void json_object::add(std::string_view key, std::uint64_t value) {
  add_raw(key, fmt::format("{}", value));
}

void json_object::add(std::string_view key, std::optional<double> value) {
  if (value) add(key, *value);
}

void json_object::add(std::string_view key, std::string_view value) { add_raw(key, quoted(value)); }

void json_object::add(std::string_view key, std::vector<double> const& values) {
  add_raw(key, list_of(values, number));
}

void json_object::add(std::string_view key, std::vector<json_object> const& values) {
  add_raw(key, list_of(values, [](json_object const& o) { return o.text(); }));
}

void json_object::add(std::string_view key, json_object const& inner) {
  add_raw(key, inner.text());
}

void json_object::add_flag(std::string_view key, bool value) {
  add_raw(key, value ? "true" : "false");
}

void json_object::add_raw(std::string_view key, std::string_view value) {
  members_ += fmt::format("{}{}: {}", members_.empty() ? "" : ", ", quoted(key), value);
}

}  // namespace coxswain::bench
