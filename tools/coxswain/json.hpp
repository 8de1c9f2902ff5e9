#pragma once
// Boost.JSON, used header-only: json.cpp is its one translation unit.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace coxswain::tools {

namespace json = boost::json;

}  // namespace coxswain::tools
