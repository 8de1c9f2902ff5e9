// coxswain jobs: the jobs of this user that run on this machine.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "process/job_registry.hpp"
#include "terminal/error_output.hpp"
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
        {"started", one.started_text()},
    });
  }
  return serialized(list);
}

int list_jobs(bool as_json) {
  auto const all = running_jobs();
  if (as_json) {
    fmt::print("{}\n", jobs_json(all));
  } else if (all.empty()) {
    print_error("no job of yours runs on this machine\n");
  } else {
    fmt::print("{}", jobs_text(all));
  }
  return static_cast<int>(exit_code::ok);
}

}  // namespace

void add_jobs(CLI::App& program, action& chosen) {
  auto as_json = std::make_shared<bool>();
  auto& command = add_subcommand(program, "jobs", "Lists your jobs on this machine, newest first",
                                 chosen, [as_json] { return list_jobs(*as_json); });
  command.add_flag("--json", *as_json, "One JSON array on one line, for programs");
  command.name_variables();
  command.footer(
      help_end("Lists the jobs whose coordinators you started with run, serve or\n"
               "task --host-if-task-0. Each has a file in $XDG_RUNTIME_DIR/coxswain, or in\n"
               "coxswain-UID below TMPDIR, with its address and a token; only you may read it.\n"
               "Subcommands without an --address use the first job listed.\n\n"));
}

}  // namespace coxswain::tools
