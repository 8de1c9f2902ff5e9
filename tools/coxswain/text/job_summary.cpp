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

// For a SIGKILL that is not ours.
std::string_view next_step(std::optional<ending> const& how) {
  bool const may_be_memory = how && how->was_killed && how->number == SIGKILL && !how->after_grace;
  return may_be_memory ? " (out of memory? dmesg | grep -i oom)" : "";
}

// Why the job ended, and what to do if a process of it ended.
std::string cause_text(local_job const& job) {
  auto const error = job.coordinator().error();
  if (!error || !job.first_cause().empty()) return job.first_cause();
  auto text = job.coordinator().state().headline;
  if (auto const task = error->cause.task) {
    auto const& how = job.endings().at(task->value);
    bool const is_its_end = is_bad(how) && error->cause.why.message().ends_with(how->text());
    if (is_its_end) text += next_step(how);
  }
  return text;
}

}  // namespace

std::string failure_text(local_job const& job, std::string const& prefix) {
  auto const& endings = job.endings();
  auto const error = job.coordinator().error();
  auto const first = error ? error->cause.task : job.first_bad();
  if (!error && !first) return {};
  std::string cause = cause_text(job);
  if (cause.empty()) {
    auto const& how = endings.at(first->value);
    cause = fmt::format("task {} failed: {}{}", first->value, how->text(), next_step(how));
  }
  std::map<std::pair<bool, ending>, std::vector<task_id>> others;
  for (std::uint32_t task = 0; task < endings.size(); ++task) {
    bool const is_cause = task_id{task} == first && job.first_cause().empty();
    if (is_cause || !is_bad(endings[task])) continue;
    others[{job.ended_with_job(task), *endings[task]}].emplace_back(task);
  }
  std::string text;
  for (auto const& [how, tasks] : others) {
    text +=
        fmt::format("{}task{} {} {}: {}\n", prefix, tasks.size() == 1 ? "" : "s", ranges_of(tasks),
                    how.first ? "ended with the job" : "ended", how.second.text());
  }
  if (auto const where = job.errors_after_failure(); !where.empty()) {
    text += fmt::format("{}what they wrote to standard error is in {}\n", prefix, where);
  }
  return text + fmt::format("{}{}\n", prefix, harmless_lines(cause));
}

int exit_code_of(local_job const& job) {
  auto const first = culprit(job);
  if (!first && !job.coordinator().error()) return static_cast<int>(exit_code::ok);
  for (auto const& task : {first, job.first_bad()}) {
    if (task && is_bad(job.endings().at(task->value))) return job.endings()[task->value]->code();
  }
  return static_cast<int>(exit_code::failed);
}

}  // namespace coxswain::tools
