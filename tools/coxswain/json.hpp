#pragma once
// Boost.JSON, used header-only: json.cpp is its one translation unit.

#include "value_io.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/core/text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace coxswain::tools {

namespace json = boost::json;

// Milliseconds, with three digits after the point; none is null.
[[nodiscard]] inline json::value milliseconds_of(std::optional<duration> d) {
  if (!d) return nullptr;
  return static_cast<double>(d->count() / 1000) / 1000.0;
}

// JSON has no bytes: what is no text is null, and stands beside it in hexadecimal digits.
inline void add_bytes(json::object& to, std::string const& name, std::string_view bytes) {
  to[name] = nullptr;
  if (core::is_utf8(bytes)) {
    to[name] = bytes;
  } else {
    to[name + "_hex"] = hexadecimal(bytes);
  }
}

}  // namespace coxswain::tools
