#pragma once
// The coordinator's state as JSON: the same for HTTP and for the commands of the program. Times are
// milliseconds; 64-bit identifiers are hexadecimal strings, because JSON readers round large
// numbers; unknown values are null.
//
// Boost.JSON is used header-only: json_source.cpp is its one translation unit. The namespace
// differs from the directory's name, which is a class.

#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::status_page {

namespace json = boost::json;

// With three digits after the point; none is null.
[[nodiscard]] json::value milliseconds_of(std::optional<duration> d);

// JSON has no bytes: data that is not text is null, with its hexadecimal digits in a second field.
void add_bytes(json::object& to, std::string const& name, std::string_view bytes);

// Of "info", "warning" and "error".
[[nodiscard]] std::string_view name_of(core::severity level);
[[nodiscard]] std::optional<core::severity> severity_named(std::string_view text);

// "barrier", "get_all", "round_failed".
[[nodiscard]] std::string_view name_of(core::event_kind kind);
[[nodiscard]] std::string_view name_of(core::snapshot::kind kind);
[[nodiscard]] std::string_view name_of(core::job_state::kind kind);
[[nodiscard]] std::string_view name_of(core::why_answer::kind kind);

[[nodiscard]] json::value object_of(core::snapshot::task const& t);
[[nodiscard]] json::value object_of(core::snapshot::barrier const& b);
[[nodiscard]] json::value object_of(core::snapshot::finished_round const& r);
[[nodiscard]] json::value object_of(core::snapshot::straggler const& s);
[[nodiscard]] json::value object_of(core::snapshot::spare const& s);
[[nodiscard]] json::value object_of(core::snapshot::relay const& r);
[[nodiscard]] json::value object_of(core::snapshot::lease const& l);
[[nodiscard]] json::value object_of(core::why_answer const& answer);
[[nodiscard]] json::object object_of(core::stacks_answer const& answer);
// Kind, task, barrier and text; and all that there is to an entry.
[[nodiscard]] json::object object_of(core::event const& e);
[[nodiscard]] json::value object_of(core::events_answer::entry const& e);

// The snapshot without its long lists.
[[nodiscard]] json::object summary_of(core::snapshot const& picture);

// All of them.
template <class Thing>
[[nodiscard]] json::array array_of(std::vector<Thing> const& things) {
  json::array all;
  all.reserve(things.size());
  for (auto const& thing : things) all.push_back(object_of(thing));
  return all;
}

// The whole snapshot.
[[nodiscard]] json::object state_of(core::snapshot const& picture);

// As text on one line, with readable numbers, unlike Boost.JSON's own. All our JSON output is
// serialized here.
[[nodiscard]] std::string serialized(json::value const& what);
[[nodiscard]] std::string serialized(json::object const& members);
[[nodiscard]] std::string serialized(json::array const& values);

// Each is one JSON object on one line.
[[nodiscard]] std::string status_json(core::snapshot const& picture);
// With the stacks, unless these are null.
[[nodiscard]] std::string why_json(core::why_answer const& answer,
                                   core::stacks_answer const* stacks = nullptr);
[[nodiscard]] std::string event_json(core::events_answer::entry const& e);

}  // namespace coxswain::status_page
