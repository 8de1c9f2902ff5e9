#include "tests/sim/everything/requests.hpp"

#include <array>
#include <utility>
#include <vector>

namespace coxswain::sim {
namespace {

bool one_in(generator& r, std::uint64_t n) { return between(r, 1, n) == 1; }

std::string one_of(generator& r, std::vector<std::string> const& all) {
  return all[between(r, 0, all.size() - 1)];
}

std::string any_key(generator& r) {
  return one_of(r, {"a", "b", "d/a", "d/b", "d/e/f", "n", "d/n"});
}
std::string any_counter(generator& r) { return one_of(r, {"n", "d/n", "n", "d/n", "a"}); }
std::string any_directory(generator& r) { return one_of(r, {"", "d", "d/e", "a", "/d//"}); }
std::string any_queue(generator& r) { return one_of(r, {"q", "r"}); }
std::string any_barrier(generator& r) { return one_of(r, {"x", "y", "first"}); }

duration any_timeout(generator& r) { return duration{1ms} * static_cast<int>(between(r, 0, 1500)); }

core::request any_compare_and_set(generator& r, std::string text) {
  core::compare_and_set_args args{.key = any_key(r), .value = std::move(text)};
  switch (between(r, 0, 2)) {
    case 0: args.expected = core::absent_value{}; break;
    case 1: args.expected = between(r, 1, 60); break;
    default: args.expected = std::to_string(between(r, 0, 3)); break;
  }
  return args;
}

core::request any_put_all(generator& r, std::string const& text) {
  core::put_all_args args;
  args.entries.push_back({any_key(r), text + "+"});
  args.entries.push_back({"d/of/" + text.substr(0, 20), text});
  args.overwrite = one_in(r, 2);
  return args;
}

core::request any_change(generator& r, std::optional<task_id> task, std::string text) {
  switch (between(r, 0, 8)) {
    case 0:
    case 1: return core::put_args{any_key(r), std::move(text), one_in(r, 2), task && one_in(r, 3)};
    case 2:
    case 3:
    case 4: {
      auto const by = static_cast<std::int64_t>(between(r, 0, 9)) - 3;
      return core::increment_args{any_counter(r), by};
    }
    case 5: return core::append_args{any_key(r), std::move(text)};
    case 6: return any_compare_and_set(r, std::move(text));
    case 7: return any_put_all(r, text);
    default:
      if (one_in(r, 8)) return core::remove_tree_args{"d"};
      return core::remove_args{one_in(r, 8) ? "d" : any_key(r)};
  }
}

core::request any_read(generator& r) {
  switch (between(r, 0, 5)) {
    case 0: return core::get_args{any_key(r)};
    case 1: return core::try_get_args{any_key(r)};
    case 2: return core::list_args{any_directory(r)};
    case 3: return core::count_keys_args{any_directory(r)};
    case 4: return core::get_all_args{{any_key(r), any_key(r)}};
    default: return core::try_get_args{any_counter(r)};
  }
}

core::request any_watch(generator& r) {
  std::optional<std::uint64_t> after;
  if (!one_in(r, 5)) after = between(r, 0, 12);
  switch (between(r, 0, 3)) {
    case 0: return core::watch_tasks_args{after};
    case 1: return core::watch_events_args{after, static_cast<core::severity>(between(r, 0, 2))};
    default: return core::watch_keys_args{any_directory(r), after};
  }
}

core::request any_barrier_call(generator& r, std::uint32_t num_tasks, task_id task) {
  core::barrier_args args{.name = any_barrier(r)};
  if (args.name == "first" && !one_in(r, 6)) args.name = "x";
  if (args.name == "y") {
    args.participants = {task, task_id{static_cast<std::uint32_t>(between(r, 0, num_tasks - 1))}};
    args.name += std::to_string(between(r, 0, 3));
  }
  args.gather = one_in(r, 2);
  if (args.gather) args.data = "x" + std::to_string(task.value);
  if (one_in(r, 3)) args.progress_every = 100ms;
  return args;
}

// Requests that need a task.
core::request any_of_task(generator& r, std::uint32_t num_tasks, task_id task) {
  switch (between(r, 0, 8)) {
    case 0: return core::alive_args{{task}};
    case 1: {
      auto const other = static_cast<std::uint32_t>(between(r, 0, num_tasks - 1));
      return core::alive_args{{task, task_id{other}}};
    }
    case 2: return core::exchange_topology_args{"tpu", topology_of(task)};
    case 3: return core::cancel_barrier_args{any_barrier(r), {}};
    case 4: return core::report_progress_args{between(r, 0, 50)};
    default: return any_barrier_call(r, num_tasks, task);
  }
}

core::request any_lock(generator& r) {
  std::string const name = one_of(r, {"l", "m"});
  switch (between(r, 0, 3)) {
    case 0: return core::try_lock_args{name};
    case 1: return core::lock_args{name};
    default: return core::unlock_args{name, between(r, 1, 12)};
  }
}

duration any_lease(generator& r) {
  if (one_in(r, 4)) return without_limit;
  return duration{1ms} * static_cast<int>(between(r, 1, one_in(r, 2) ? 3000 : 300));
}

core::request any_consumption(generator& r) {
  std::string queue = any_queue(r);
  if (one_in(r, 3)) return core::pop_args{std::move(queue)};
  return core::take_args{std::move(queue), core::timeout_default, any_lease(r)};
}

core::request any_of_operator(generator& r, std::uint32_t num_tasks) {
  auto const task = task_id{static_cast<std::uint32_t>(between(r, 0, num_tasks - 1))};
  switch (between(r, 0, 9)) {
    case 0: return core::preempt_args{task, duration{1ms} * static_cast<int>(between(r, 0, 3000))};
    case 1: return core::reset_args{incarnation{between(r, 1, num_tasks)}};
    case 2: return core::cancel_barrier_args{any_barrier(r), {}};
    case 3: return core::why_args{};
    case 4: return core::stacks_args{between(r, 0, 2)};
    case 5: return core::report_stack_args{between(r, 0, 3), task, "main (a.py:1)", "sleeping"};
    default: return core::inspect_args{};
  }
}

core::request any_request(generator& r, std::uint32_t num_tasks, std::optional<task_id> task,
                          std::string text) {
  switch (between(r, 0, 12)) {
    case 0:
    case 1:
    case 2: return any_change(r, task, std::move(text));
    case 10: return any_lock(r);
    case 3:
    case 4: return any_read(r);
    case 5: return any_watch(r);
    case 6: return core::push_args{any_queue(r), std::move(text)};
    case 7: return any_consumption(r);
    case 8: return core::count_barrier_args{any_barrier(r), 2};
    case 9: return any_of_operator(r, num_tasks);
    default: return task ? any_of_task(r, num_tasks, *task) : any_change(r, task, std::move(text));
  }
}

std::string operand_of(std::uint64_t value) {
  std::string text(8, '\0');
  for (auto& byte : text) {
    byte = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  return text;
}

}  // namespace

side_call any_side_call(generator& random, plan const& of, std::optional<task_id> task,
                        std::string text) {
  // Fills a small memory.
  bool const is_large = one_in(random, of.limits_are_small ? 2 : 12);
  if (is_large) text.append(between(random, 1, of.limits_are_small ? 12'000 : 6'000), '.');
  side_call e{any_request(random, of.options.num_tasks, task, std::move(text)),
              any_timeout(random)};
  return e;
}

core::request any_lease_change(generator& random, std::vector<core::value_answer> const& taken) {
  // Mostly the last one.
  bool const is_last = one_in(random, 2);
  auto const& item = is_last ? taken.back() : taken[between(random, 0, taken.size() - 1)];
  core::update_lease_args args{item.version, item.redeliveries.value()};
  switch (between(random, 0, 5)) {
    case 0:
      args.change = core::lease_change::extend;
      args.lease = any_lease(random);
      break;
    case 1:
    case 2: args.change = core::lease_change::release; break;
    default: args.change = core::lease_change::finish; break;
  }
  return args;
}

core::request request_for(gathering const& g, generator& random, task_id task,
                          std::uint32_t num_tasks) {
  switch (g.what) {
    case gathering::kind::count_barrier:
      return core::count_barrier_args{"all " + g.name, num_tasks};
    case gathering::kind::alive: return core::alive_args{};
    case gathering::kind::topology: return core::exchange_topology_args{"cpu", topology_of(task)};
    case gathering::kind::barrier: break;
  }
  core::barrier_args args{.name = g.name,
                          .participants = g.participants,
                          .gather = g.gathers,
                          .reduce = g.reduce,
                          .fail_when_lost = g.fails_when_lost};
  if (g.gathers) args.data = "of " + std::to_string(task.value);
  if (g.reduce != core::reduction::none) args.data = operand_of(between(random, 0, 1'000'000));
  return args;
}

bool is_of_task(core::request const& what) {
  if (auto const* const put = std::get_if<core::put_args>(&what)) return put->ephemeral;
  return std::holds_alternative<core::barrier_args>(what) ||
         std::holds_alternative<core::alive_args>(what) ||
         std::holds_alternative<core::exchange_topology_args>(what) ||
         std::holds_alternative<core::cancel_barrier_args>(what);
}

core::local_topology topology_of(task_id task) {
  core::local_topology t;
  t.boot_id = "host " + std::to_string(task.value / 4);
  t.devices.resize(1 + task.value % 3);
  return t;
}

}  // namespace coxswain::sim
