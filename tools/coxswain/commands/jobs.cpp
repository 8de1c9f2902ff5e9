// coxswain jobs: the jobs of this user that run on this machine, and those that ended lately.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "process/ended_jobs.hpp"
#include "process/job_registry.hpp"
#include "terminal/error_output.hpp"
#include "terminal/harmless_text.hpp"
#include "terminal/table.hpp"
#include "text/job_words.hpp"
#include "text/json.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace coxswain::tools {
namespace {

std::string jobs_json(std::vector<registered_job> const& all) {
  json::array list;
  for (auto const& one : all) {
    list.push_back(json::object{
        {"job", one.job},
        {"num_tasks", one.num_tasks},
        {"address", one.address},
        {"page", one.page},
        {"pid", one.pid},
        {"started", local_time_text(one.started)},
    });
  }
  return serialized(list);
}

std::string ended_json(std::vector<ended_job> const& all) {
  json::array list;
  for (auto const& one : all) {
    list.push_back(json::object{
        {"job", one.job},
        {"num_tasks", one.num_tasks},
        {"pid", one.pid},
        {"started", local_time_text(one.started)},
        {"ended", local_time_text(one.ended)},
        {"how", one.how},
        {"recording", one.recording},
    });
  }
  return serialized(list);
}

std::string ended_text(std::vector<ended_job> const& all) {
  table shown{{"job"}, {"tasks", align::right}, {"ended"}, {"pid", align::right}, {"how"}};
  for (auto const& one : all) {
    auto how = harmless_line(one.how);
    if (!one.recording.empty()) how += "; coxswain replay " + one.recording;
    shown.add({one.job, std::to_string(one.num_tasks), local_time_text(one.ended),
               std::to_string(one.pid), how});
  }
  return shown.text();
}

int list_jobs(bool only_ended, bool as_json) {
  auto const all = running_jobs();
  auto const ended = ended_jobs();
  if (as_json) {
    fmt::print("{}\n", only_ended ? ended_json(ended) : jobs_json(all));
    return static_cast<int>(exit_code::ok);
  }
  if (!only_ended) {
    if (all.empty()) print_error("no job of yours runs on this machine\n");
    if (!all.empty()) fmt::print("{}", jobs_text(all));
    if (!ended.empty()) fmt::print("{}ended in the last seven days:\n", all.empty() ? "" : "\n");
  }
  if (!ended.empty()) fmt::print("{}", ended_text(ended));
  return static_cast<int>(exit_code::ok);
}

struct jobs_command {
  bool only_ended{};
  bool as_json{};
};

}  // namespace

void add_jobs(CLI::App& program, action& chosen) {
  auto given = std::make_shared<jobs_command>();
  auto& command = add_subcommand(
      program, "jobs", "Lists your jobs on this machine, also those that ended; newest first",
      chosen, [given] { return list_jobs(given->only_ended, given->as_json); });
  command.add_flag("--ended", given->only_ended, "Only those that ended in the last seven days");
  command.add_flag("--json", given->as_json,
                   "One JSON array on one line, for programs: of those that run, or with --ended");
  command.name_variables();
  command.footer(
      help_end("Lists the jobs whose coordinators you started with run, serve or\n"
               "task --host-if-task-0. Each has a file in $XDG_RUNTIME_DIR/coxswain, or in\n"
               "coxswain-UID below TMPDIR, with its address and a token; only you may read it.\n"
               "Subcommands without an --address use the first job listed; an address of one of\n"
               "these jobs needs no --token-file.\n\n"
               "Of the newest 20 jobs that ended in the last seven days it shows how, and the\n"
               "recording for coxswain replay, if there is one.\n\n"));
}

}  // namespace coxswain::tools
