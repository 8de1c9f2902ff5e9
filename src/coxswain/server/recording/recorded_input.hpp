#pragma once
// A recorded input of the core, passed to a core again: by a replay, and when a coordinator is
// restarted from its journal.

#include "coxswain/core/coordinator.hpp"
#include "coxswain/wire/recording.hpp"

namespace coxswain::server {

// Passes it to the core; messages as they are, placeholders included. Events and digests of sent
// messages are no inputs: they change nothing. Throws coxswain::error: INVALID_ARGUMENT, the record
// is malformed, or of a coordinator that behaved differently.
void put_in(core::coordinator& into, time_point now, wire::record const& input);

}  // namespace coxswain::server
