#pragma once
// Checks a request's size and needs against the coordinator's limits. Not here: the limits of open
// requests (core).

#include "coxswain/client/agent/call_table.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <string_view>

namespace coxswain::detail {

// Whether it names a task; for others the coordinator knows it.
[[nodiscard]] bool needs_task(core::request const& what);

// Its approximate size on the wire.
[[nodiscard]] std::size_t bytes_of(core::request const& what);

// Replaces its timeout, if it has one.
void set_timeout(core::request& what, duration timeout);

// RESOURCE_EXHAUSTED if the coordinator would refuse the call for its size.
[[nodiscard]] status over_limit(open_call const& call, core::hello_answer const& terms);

// RESOURCE_EXHAUSTED if the coordinator would treat so long a frame as a protocol error. `payload`
// is the call, encoded.
[[nodiscard]] status over_frame_limit(open_call const& call, std::string_view payload,
                                      core::hello_answer const& terms);

}  // namespace coxswain::detail
