#pragma once
// The parts of a report as JSON, times in nanoseconds: for reports that have more than one.

#include "json_object.hpp"
#include "report.hpp"

namespace coxswain::bench {

[[nodiscard]] json_object to_object(summary const& s);
[[nodiscard]] json_object to_object(side_result const& side, vocabulary const& words);
[[nodiscard]] json_object to_object(disturbance const& d);

void add_ratios(json_object& o, vocabulary const& words, comparison const& pairs);
void add_origin(json_object& o, origin const& from);

}  // namespace coxswain::bench
