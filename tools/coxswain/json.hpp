#pragma once
// Boost.JSON, used header-only: json.cpp is its one translation unit.

#include "coxswain/base/time.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <optional>

namespace coxswain::tools {

namespace json = boost::json;

// Milliseconds, with three digits after the point; none is null.
[[nodiscard]] inline json::value milliseconds_of(std::optional<duration> d) {
  if (!d) return nullptr;
  return static_cast<double>(d->count() / 1000) / 1000.0;
}

}  // namespace coxswain::tools
