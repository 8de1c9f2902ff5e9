#pragma once
// What is counted, as Prometheus reads it. Not here: who asks for it over HTTP.

#include "coxswain/core/model/messages.hpp"
#include "coxswain/server/statistics.hpp"
#include "coxswain/status/process_usage.hpp"

#include <string>
#include <string_view>

namespace coxswain::status_page {

// The media type of the text.
inline constexpr std::string_view metrics_type = "text/plain; version=0.0.4; charset=utf-8";

// All metrics in Prometheus' text format. How many there are depends neither on the number of tasks
// nor on any name that a client chooses.
[[nodiscard]] std::string metrics(server::statistics const& counted, core::snapshot const& job,
                                  process_usage const& process);

}  // namespace coxswain::status_page
