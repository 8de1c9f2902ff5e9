#include "text/job_summary.hpp"

#include "child/child_process.hpp"
#include "options/exit_code.hpp"
#include "terminal/harmless_text.hpp"
#include "text/task_ranges.hpp"

#include "coxswain/base/error.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

// The task that the others failed with: the coordinator knows best, and it may know of one whose
// process ended well.
std::optional<task_id> culprit(local_job const& job) {
  auto const error = job.coordinator().error();
  return error && error->cause.task ? error->cause.task : job.first_bad();
}

bool is_bad(std::optional<ending> const& how) { return how && !how->is_good(); }

// For a SIGKILL that is not ours; it may have hit the command of coxswain task.
std::string_view next_step(std::optional<ending> const& how) {
  bool const may_be_memory = how && how->code() == 128 + SIGKILL && !how->after_grace;
  return may_be_memory ? " (out of memory? dmesg | grep -i oom)" : "";
}

// "task 3", "tasks 0-2,5"; those of an elastic job have no number: "processes m0-m2,m5".
std::string names_of(local_job const& job, std::vector<task_id> const& processes) {
  auto const ranges = ranges_of(processes);
  bool const is_one = processes.size() == 1;
  if (!job.is_elastic()) return fmt::format("task{} {}", is_one ? "" : "s", ranges);
  std::string text = is_one ? "process m" : "processes m";
  for (char const c : ranges) {
    text += c;
    if (c == ',' || c == '-') text += 'm';
  }
  return text;
}

// The first cause is how this process ended.
bool is_end_of(std::optional<task_id> process, local_job const& job) {
  return process && job.first_cause().starts_with(names_of(job, {*process}) + " ");
}

// Why the job ended, and what to do if a process of it ended.
std::string cause_text(local_job const& job) {
  auto const first = job.first_bad();
  if (is_end_of(first, job)) {
    return job.first_cause() + std::string{next_step(job.endings().at(first->value))};
  }
  bool const is_error = job.coordinator().error() && job.first_cause().empty();
  return is_error ? job.coordinator().state().headline : job.first_cause();
}

}  // namespace

std::string failure_text(local_job const& job, std::string const& prefix) {
  auto const& endings = job.endings();
  auto const error = job.coordinator().error();
  auto const first = error ? error->cause.task : job.first_bad();
  if (!error && !first && !job.was_stopped()) return {};
  std::string cause = cause_text(job);
  if (cause.empty()) {
    auto const& how = endings.at(first->value);
    cause = fmt::format("{} {}{}", names_of(job, {*first}), how->predicate(), next_step(how));
  }
  std::map<std::pair<bool, ending>, std::vector<task_id>> others;
  for (std::uint32_t task = 0; task < endings.size(); ++task) {
    bool const is_cause =
        task_id{task} == first && (job.first_cause().empty() || is_end_of(first, job));
    if (is_cause || !is_bad(endings[task])) continue;
    others[{job.ended_with_job(task), *endings[task]}].emplace_back(task);
  }
  std::string text;
  for (auto const& [how, tasks] : others) {
    text += fmt::format("{}{} {}: {}\n", prefix, names_of(job, tasks),
                        how.first ? "ended with the job" : "ended", how.second.text());
  }
  if (auto const where = job.errors_after_failure(); !where.empty()) {
    text += fmt::format("{}what they wrote to standard error is in {}\n", prefix, where);
  }
  return text + fmt::format("{}{}\n", prefix, harmless_lines(cause));
}

int exit_code_of(local_job const& job) {
  auto const first = culprit(job);
  if (!first && !job.coordinator().error() && !job.was_stopped()) {
    return static_cast<int>(exit_code::ok);
  }
  for (auto const& task : {first, job.first_bad()}) {
    if (task && is_bad(job.endings().at(task->value))) return job.endings()[task->value]->code();
  }
  return static_cast<int>(exit_code::failed);
}

}  // namespace coxswain::tools
