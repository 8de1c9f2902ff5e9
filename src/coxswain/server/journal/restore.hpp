#pragma once
// A coordinator's core, restored from its journal.

#include "coxswain/server/journal/core_origin.hpp"
#include "coxswain/server/journal/file_journal.hpp"
#include "coxswain/server/options.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::server {

// `from` after it has had all records, which `each` passes to its argument piece by piece.
// `started` is when it was new. Throws coxswain::error: INVALID_ARGUMENT, a record is malformed, or
// of a coordinator that behaved differently.
using take_records = std::function<void(std::string_view records)>;
[[nodiscard]] restored_core restore_core(core::coordinator from, wire::recording_head head,
                                         time_point started,
                                         std::function<void(take_records const&)> const& each);

// INVALID_ARGUMENT: a coordinator with these options cannot continue such a job.
[[nodiscard]] status check_options(core::config const& now, wire::recording_head const& then);

// Why a job is not continued: it has ended; it is another job, or an earlier attempt. Goes after
// "the job". Empty: it is.
[[nodiscard]] std::string why_over(core::coordinator const& logic);
[[nodiscard]] std::string why_over(options const& o, core::config const& then);

// A core without inputs.
[[nodiscard]] core::coordinator new_core(wire::recording_head const& head, time_point started);

// Restores the journal's job as of `now`; none if the journal has no job that can continue. The
// files of a job that is done, failed or stopped, or of an older attempt, are set aside, and
// `set_aside` becomes a line for the log. Throws coxswain::error: INVALID_ARGUMENT, the options
// differ from those of the job, or another version of the program must continue it; DATA_LOSS, an
// input is malformed; UNAVAILABLE, as file_journal does.
[[nodiscard]] std::optional<restored_core> restore(file_journal& from, options const& o,
                                                   time_point now, std::string& set_aside);

}  // namespace coxswain::server
