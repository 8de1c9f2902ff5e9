#pragma once
// Metrics in Prometheus' format. Not here: HTTP.

#include "coxswain/core/model/messages.hpp"
#include "coxswain/server/standby/standby_view.hpp"
#include "coxswain/server/statistics.hpp"
#include "coxswain/status/process_usage.hpp"

#include <string>
#include <string_view>

namespace coxswain::status_page {

// The media type of the text.
inline constexpr std::string_view metrics_type = "text/plain; version=0.0.4; charset=utf-8";

// All metrics in Prometheus' text format. Their number depends neither on the number of tasks nor
// on names chosen by clients.
[[nodiscard]] std::string metrics(server::statistics const& counted, core::snapshot const& job,
                                  process_usage const& process);

// Those of a standby.
[[nodiscard]] std::string metrics(server::standby_view const& of, process_usage const& process);

}  // namespace coxswain::status_page
