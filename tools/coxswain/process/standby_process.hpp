#pragma once
// A process that leads a job while it can, and is a standby otherwise.

#include "options/coordinator_options.hpp"
#include "options/engine_options.hpp"

#include "coxswain/net/asio.hpp"
#include "coxswain/server/journal/core_origin.hpp"

#include <functional>

namespace coxswain::tools {

// Calls `lead` whenever this coordinator leads, with the listeners in `given`; it runs the context
// until it has finished leading, and gives the exit code. It throws coxswain::error with ABORTED or
// UNAVAILABLE if it has lost the leadership: then this is a standby again. Gives the exit code of
// the process: it was stopped, or the job has ended. Throws program_error.
int stand_by(asio::io_context& io, coordinator_options& given, engine_options const& engine,
             std::function<int(server::shared_job)> const& lead);

}  // namespace coxswain::tools
