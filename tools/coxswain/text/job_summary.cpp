#include "text/job_summary.hpp"

#include "options/exit_code.hpp"
#include "process/child_process.hpp"
#include "terminal/harmless_text.hpp"
#include "text/task_ranges.hpp"

#include "coxswain/base/error.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
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

}  // namespace

std::string failure_text(local_job const& job, std::string const& prefix) {
  auto const& endings = job.endings();
  auto const first = culprit(job);
  auto const error = job.coordinator().error();
  std::string text;
  if (first) {
    auto const& how = endings.at(first->value);
    auto const why = is_bad(how) ? how->text() : error->cause.why.text();
    text += fmt::format("{}task {} failed: {}\n", prefix, first->value, harmless_lines(why));
  } else if (error) {
    text += fmt::format("{}the job failed: {}\n", prefix, harmless_lines(error->cause.why.text()));
  }
  std::map<ending, std::vector<task_id>> others;
  for (std::uint32_t task = 0; task < endings.size(); ++task) {
    if (is_bad(endings[task]) && task_id{task} != first)
      others[*endings[task]].push_back(task_id{task});
  }
  for (auto const& [how, tasks] : others) {
    text += fmt::format("{}task{} {} ended after that: {}\n", prefix, tasks.size() == 1 ? "" : "s",
                        ranges_of(tasks), how.text());
  }
  return text;
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
