#include "coxswain/xla/strict_barriers.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::xla {
namespace {

constexpr std::size_t id_bytes_shown = 800;

std::string shown(std::string const& id, std::int64_t counter) {
  return core::shortened(id, id_bytes_shown) + "::" + std::to_string(counter);
}

std::string instances_differ(std::int64_t expected) {
  return "the service thinks it is the " + std::to_string(expected) + "-th instance. ";
}

status counters_differ(strict_barriers::instance const& at, std::int64_t got) {
  bool const was_restarted = got == 0 || at.counter == 0;
  return {errc::internal,
          "Barrier (" + shown(at.id, got) + ") is invoked by the task, but " +
              instances_differ(at.counter) +
              (was_restarted
                   ? "The service or task probably restarted, check the earlier logs to debug "
                     "further. Usually, a restart on the stale tasks will resolve the issue."
                   : "One task is probably way too quick / slow in its execution. For example, one "
                     "task started a barrier early, which timed out, and started a second barrier "
                     "before the late task even joined once.")};
}

}  // namespace

// Moves it to the recent ones.
strict_barriers::instance* strict_barriers::find(std::string const& id) {
  if (auto const at = recent_.find(id); at != recent_.end()) return &at->second;
  auto node = older_.extract(id);
  return node ? &recent_.insert(std::move(node)).position->second : nullptr;
}

strict_barriers::instance& strict_barriers::add(std::string const& id) {
  if (recent_.size() >= ids_max) {
    older_ = std::exchange(recent_, {});
    for (auto at = older_.begin(); at != older_.end();) {
      auto const at_round = at++;
      if (at_round->second.is_open) recent_.insert(older_.extract(at_round));
    }
  }
  return recent_[id];
}

// All tasks are an empty list, like upstream's own.
std::vector<task_id> strict_barriers::sorted(std::vector<task_id> given) const {
  std::sort(given.begin(), given.end());
  given.erase(std::unique(given.begin(), given.end()), given.end());
  if (given.size() == num_tasks_ && given.back().value < num_tasks_) given.clear();
  return given;
}

bool strict_barriers::is_next(instance const& last, call const& what) const {
  if (last.is_open) return false;
  return what.counter == last.counter + 1 || (what.is_recoverable && what.counter == 0);
}

// `is_first`: the call determines the participants.
status strict_barriers::refusal(instance const& at, call const& what, bool is_first) const {
  bool const joins_late = what.is_recoverable && what.counter == 0;
  if (what.counter != at.counter && !joins_late) return counters_differ(at, what.counter);
  std::string const name = shown(at.id, at.counter);
  if (is_first && !what.participants.empty()) {
    auto const last = std::max_element(what.participants.begin(), what.participants.end());
    if (last->value >= num_tasks_) {
      return {errc::invalid_argument, "Unexpected task (" + std::to_string(last->value) +
                                          ") that is not in the cluster called the barrier. "
                                          "Barrier Id: " +
                                          name};
    }
  }
  if (at.participants != sorted(what.participants)) {
    if (what.participants.empty()) {
      return {errc::invalid_argument,
              name +
                  ": No tasks were specified by the client, which implies that the entire cluster "
                  "is participating in the barrier. However, the service disagrees. Check that the "
                  "callers are invoking the barrier with the same arguments."};
    }
    return {errc::invalid_argument,
            "Conflicting tasks specified by different processes for the same barrier: " + name +
                ". Check that the callers are invoking the barrier with the same arguments."};
  }
  bool const takes_part =
      at.participants->empty() ||
      std::binary_search(at.participants->begin(), at.participants->end(), what.by);
  if (takes_part) return {};
  return {errc::invalid_argument, "A non-participating task (" + std::to_string(what.by.value) +
                                      ") called the barrier: " + name};
}

strict_barriers::verdict strict_barriers::arrive(call const& what) {
  instance* r = find(what.id);
  bool const is_known = r != nullptr;
  bool const is_new = is_known ? is_next(*r, what) : what.counter == 0;
  if (!is_known) r = &add(what.id);
  bool const is_first = is_new && !r->participants;
  if (is_new) {
    // A caller that has restarted counts from zero, and learns the counter by the reply.
    if (is_known) ++r->counter;
    r->id = what.id;
    r->is_open = true;
    if (is_first) r->participants = sorted(what.participants);
  }
  auto why = refusal(*r, what, is_first);
  if (is_first) {
    std::erase_if(*r->participants, [&](task_id task) { return task.value >= num_tasks_; });
  }
  if (why.ok()) return r->is_open ? verdict::arrives : verdict::is_over;
  // Upstream replaces the outcome of an instance that is over as well.
  r->outcome = std::move(why);
  return std::exchange(r->is_open, false) && !is_new ? verdict::fails : verdict::is_over;
}

status strict_barriers::cancel(std::string const& id, std::int64_t counter, task_id by,
                               bool& was_open) {
  instance* r = find(id);
  bool const is_unknown = !r;
  if (is_unknown) r = &add(id);
  was_open = false;
  if (counter != r->counter) {
    return {errc::failed_precondition, "Barrier (" + shown(r->id, counter) +
                                           ") is cancelled by task, but " +
                                           instances_differ(r->counter) +
                                           "This is likely due to a restart in the task or "
                                           "service."};
  }
  if (!r->is_open && !is_unknown) {
    auto const code = static_cast<unsigned>(r->outcome.code());
    return {errc::failed_precondition,
            "Barrier (" + shown(r->id, counter) +
                ") has already been passed with status code: " + std::to_string(code)};
  }
  was_open = std::exchange(r->is_open, false);
  r->outcome = {errc::cancelled, "Barrier (" + shown(r->id, counter) +
                                     ") is cancelled by task: " + std::to_string(by.value)};
  return {};
}

void strict_barriers::end(std::string const& id, std::int64_t counter, status outcome) {
  instance* const r = find(id);
  if (!r || !r->is_open || r->counter != counter) return;
  r->is_open = false;
  r->outcome = std::move(outcome);
}

std::string strict_barriers::name_in_core(std::string const& id, std::int64_t counter) {
  return id + "::" + std::to_string(counter);
}

}  // namespace coxswain::xla
