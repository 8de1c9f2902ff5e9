#pragma once
// The subcommands of the program. Each adds itself to the command line, and stores its action in
// `chosen` when it is selected.

#include "options/command_line.hpp"

namespace coxswain::tools {

void add_serve(CLI::App& program, action& chosen);
void add_run(CLI::App& program, action& chosen);
void add_task(CLI::App& program, action& chosen);
void add_status(CLI::App& program, action& chosen);
void add_top(CLI::App& program, action& chosen);
void add_why(CLI::App& program, action& chosen);
void add_barrier(CLI::App& program, action& chosen);
void add_all_gather(CLI::App& program, action& chosen);
void add_reduce(CLI::App& program, action& chosen);
void add_all_equal(CLI::App& program, action& chosen);
void add_alive(CLI::App& program, action& chosen);
void add_topology(CLI::App& program, action& chosen);
void add_progress(CLI::App& program, action& chosen);
void add_sync_point(CLI::App& program, action& chosen);
void add_fail(CLI::App& program, action& chosen);
void add_reset(CLI::App& program, action& chosen);
void add_leave(CLI::App& program, action& chosen);
void add_cancel(CLI::App& program, action& chosen);
void add_put(CLI::App& program, action& chosen);
void add_get(CLI::App& program, action& chosen);
void add_ls(CLI::App& program, action& chosen);
void add_rm(CLI::App& program, action& chosen);
void add_incr(CLI::App& program, action& chosen);
void add_events(CLI::App& program, action& chosen);
void add_cas(CLI::App& program, action& chosen);
void add_append(CLI::App& program, action& chosen);
void add_count(CLI::App& program, action& chosen);
void add_watch(CLI::App& program, action& chosen);
void add_push(CLI::App& program, action& chosen);
void add_pop(CLI::App& program, action& chosen);
void add_lock(CLI::App& program, action& chosen);
void add_detect(CLI::App& program, action& chosen);
void add_preempt(CLI::App& program, action& chosen);
void add_replay(CLI::App& program, action& chosen);
void add_completion(CLI::App& program, action& chosen);
void add_man(CLI::App& program, action& chosen);
void add_jobs(CLI::App& program, action& chosen);
void add_help(CLI::App& program, action& chosen);
void add_version(CLI::App& program, action& chosen);

}  // namespace coxswain::tools
