#pragma once
// The subcommands of the program. Each adds itself to the command line, and stores its action in
// `chosen` when it is selected.

#include "options/command_line.hpp"

#include <vector>

namespace coxswain::tools {

void add_serve(CLI::App& program, action& chosen);
void add_run(CLI::App& program, action& chosen);
void add_relay(CLI::App& program, action& chosen);
void add_task(CLI::App& program, action& chosen);
void add_status(CLI::App& program, action& chosen);
void add_top(CLI::App& program, action& chosen);
void add_why(CLI::App& program, action& chosen);
void add_stack(CLI::App& program, action& chosen);
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
void add_take(CLI::App& program, action& chosen);
void add_lock(CLI::App& program, action& chosen);
void add_detect(CLI::App& program, action& chosen);
void add_preempt(CLI::App& program, action& chosen);
void add_epoch(CLI::App& program, action& chosen);
void add_resize(CLI::App& program, action& chosen);
void add_stop(CLI::App& program, action& chosen);
void add_drain(CLI::App& program, action& chosen);
void add_replay(CLI::App& program, action& chosen);
void add_journal(CLI::App& program, action& chosen);
void add_completion(CLI::App& program, action& chosen);
void add_jobs(CLI::App& program, action& chosen);
void add_help(CLI::App& program, action& chosen);
void add_version(CLI::App& program, action& chosen);

struct command_group {
  char const* title;
  std::vector<void (*)(CLI::App&, action&)> commands;
};

// In the order of the help. This is the only list of the subcommands.
inline std::vector<command_group> const command_groups{
    {"Job",
     {add_run, add_serve, add_task, add_relay, add_detect, add_progress, add_fail, add_reset,
      add_leave, add_epoch}},
    {"Observe",
     {add_jobs, add_status, add_top, add_why, add_stack, add_events, add_replay, add_journal}},
    {"Barriers",
     {add_barrier, add_all_gather, add_reduce, add_all_equal, add_alive, add_topology,
      add_sync_point}},
    {"Keys",
     {add_put, add_get, add_ls, add_count, add_rm, add_incr, add_cas, add_append, add_watch}},
    {"Queues", {add_push, add_pop, add_take}},
    {"Locks", {add_lock}},
    {"Operate", {add_cancel, add_preempt, add_resize, add_drain, add_stop}},
    {"This program", {add_help, add_completion, add_version}},
};

}  // namespace coxswain::tools
