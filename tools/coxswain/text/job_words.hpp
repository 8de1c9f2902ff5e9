#pragma once
// The program's words for a job's tasks, barriers and waits. Not here: whole tables (status_text,
// why_text, top_frame).

#include "coxswain/core/model/messages.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::tools {

// "1 task", "2 tasks".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

// "2026-11-23T09:12:52+0000".
[[nodiscard]] std::string local_time_text(std::chrono::system_clock::time_point at);

// "6 connected, 1 failed, 1 never connected (1 suspect)".
[[nodiscard]] std::string tally(std::vector<core::snapshot::task> const& tasks);

// The sentence that says how the job is, as a line; empty: its coordinator is too old to say it.
[[nodiscard]] std::string headline_line(core::job_state const& state);

// The reason with which the coordinator of the job stops: how it has failed, or else the given one.
// It is the last that viewers hear, who may not have asked since.
[[nodiscard]] std::string last_words(core::job_state const& state, std::string otherwise);

// The state of a job whose coordinator has stopped, saying this goodbye, by the last one known.
[[nodiscard]] core::job_state ended_state(core::job_state last, std::string_view goodbye);

// "task 7", "the job".
[[nodiscard]] std::string who(std::optional<task_id> task);

// "step", "(join)", "n (count)".
[[nodiscard]] std::string barrier_name(core::snapshot::barrier const& b);

// "3,17-24 and 2 more", "3 callers".
[[nodiscard]] std::string missing_text(core::snapshot::barrier const& b);

// "barrier 'step' round 7", "key 'a/b'".
[[nodiscard]] std::string what_text(core::why_answer::wait const& w);

// "3,17-24 and 2 more".
[[nodiscard]] std::string ranges_text(std::string const& ranges, std::uint32_t cut);

// "tasks 0-2 and a caller that is not a task".
[[nodiscard]] std::string waiting_text(core::why_answer::wait const& w);

// "task 3: connected, b12:3391, heard 20 ms ago, at step 7, answers, last call: barrier 'a' at
// 03:11:50".
[[nodiscard]] std::string missing_task_text(missing_task const& m);

}  // namespace coxswain::tools
