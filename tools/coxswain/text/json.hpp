#pragma once
// JSON, with the words that the status page has for the same things.

#include "coxswain/status/json.hpp"

namespace coxswain::tools {

namespace json = boost::json;

using status_page::add_bytes;
using status_page::milliseconds_of;
using status_page::serialized;

}  // namespace coxswain::tools
