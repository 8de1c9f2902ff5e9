#include "tests/fuzz/any_wish.hpp"

#include <string>
#include <utility>

namespace coxswain::core {
namespace {

using test::dice;

duration any_timeout(dice& chance) {
  return chance.one_of(std::vector<duration>{0s, 1ms, 50ms, 1s, 5s, 60s, without_limit});
}

std::string any_name(dice& chance) {
  return chance.one_of(std::vector<std::string>{"a", "b", "c", "d", "d/e", "/d//f", "",
                                                std::string(41, 'n'), std::string("x\0y", 3),
                                                "\xff"});
}

std::string usual_name(dice& chance) {
  if (chance.one_in(8)) return any_name(chance);
  return chance.one_of(std::vector<std::string>{"a", "b", "c", "d/e"});
}

void reduce_anything(dice& chance, barrier_args& args) {
  if (!chance.one_in(3)) {
    // Something on which all can agree.
    args.name = "sum";
    args.participants.clear();
    args.gather = false;
    args.reduce = reduction::sum_int64;
    args.fail_when_lost = false;
    args.data = std::string(8, chance.one_of(std::string{"\x01\x7f"}));
    return;
  }
  args.gather = chance.one_in(20);
  args.reduce = chance.one_of(std::vector<reduction>{
      reduction::sum_int64, reduction::min_int64, reduction::max_double, reduction::bit_and,
      reduction::bit_or, reduction::all_equal, reduction::unknown});
  std::size_t const size = chance.one_in(10) ? chance.upto(9) : 8;
  args.data = std::string(size, chance.one_of(std::string{"\x01\x7f"}));
}

barrier_args any_barrier(dice& chance, std::uint32_t num_tasks, task_id asking) {
  barrier_args args{.name = usual_name(chance), .timeout = any_timeout(chance)};
  if (chance.one_in(4)) {
    for (auto i = chance.upto(2); i > 0; --i) {
      args.participants.push_back(any_task(chance, num_tasks));
    }
    args.participants.push_back(asking);
  }
  args.gather = chance.one_in(4);
  if (args.gather || chance.one_in(20)) args.data = std::string(chance.upto(45), 'g');
  if (chance.one_in(4)) args.progress_every = chance.one_of(short_times);
  args.fail_when_lost = chance.one_in(8);
  if (chance.one_in(6)) reduce_anything(chance, args);
  return args;
}

cancel_barrier_args any_cancel(dice& chance) {
  cancel_barrier_args args{.name = usual_name(chance)};
  if (chance.one_in(2)) args.round = round_number{chance.upto(5)};
  return args;
}

wish any_join(dice& chance, std::uint32_t num_tasks) {
  task_id const task = any_task(chance, num_tasks);
  incarnation const self{chance.one_in(6) ? chance.upto(9) : task.value};
  join_args args{self, any_timeout(chance)};
  if (chance.one_in(2)) args.recoverable = chance.one_in(2);
  args.take_over = chance.one_in(8);
  return {task, args};
}

wish any_count(dice& chance, std::optional<task_id> task) {
  if (chance.one_in(12)) return {task, std::monostate{}};  // a kind that is not known
  return {task, increment_args{"counted", 1}, true};
}

wish any_preemption(dice& chance, std::uint32_t num_tasks, std::optional<task_id> task) {
  if (chance.one_in(2)) return {task, frozen_args{chance.upto(4), chance.upto(9)}};
  return {task, preempt_args{any_task(chance, num_tasks), any_timeout(chance)}};
}

wish any_grant(dice& chance, task_id home) {
  if (chance.one_in(6)) return {home, grant_args{}};
  return {home, grant_args{chance.one_in(10) ? "short" : secret_of_grants}};
}

wish any_lock(dice& chance, std::optional<task_id> task) {
  switch (chance.upto(3)) {
    case 0: return {task, try_lock_args{usual_name(chance)}};
    case 1: return {task, unlock_args{usual_name(chance), chance.upto(9)}};
    default: return {task, lock_args{usual_name(chance), any_timeout(chance)}};
  }
}

wish any_reset(dice& chance, std::uint32_t num_tasks) {
  task_id const task = any_task(chance, num_tasks);
  return {task, reset_args{incarnation{chance.one_in(6) ? chance.upto(9) : task.value}}};
}

std::string any_value(dice& chance) { return std::string(chance.upto(chance.upto(3100)), 'v'); }

expected_value any_expectation(dice& chance) {
  switch (chance.upto(3)) {
    case 0: return absent_value{};
    case 1: return std::string{"v"};
    case 2: return chance.upto(20);
    default: return {};
  }
}

put_all_args any_put_all(dice& chance) {
  put_all_args args;
  for (auto i = chance.upto(3); i > 0; --i) {
    args.entries.push_back({usual_name(chance), any_value(chance)});
  }
  args.overwrite = chance.one_in(2);
  return args;
}

get_all_args any_get_all(dice& chance) {
  get_all_args args;
  for (auto i = chance.upto(3); i > 0; --i) args.keys.push_back(usual_name(chance));
  args.timeout = any_timeout(chance);
  return args;
}

watch_keys_args any_watch(dice& chance) {
  watch_keys_args args{.directory = chance.one_in(2) ? "" : any_name(chance)};
  if (!chance.one_in(4)) args.after = chance.upto(chance.one_in(2) ? 300 : 20);
  args.timeout = any_timeout(chance);
  return args;
}

// What is rarer than a put and a get.
request any_of_keys(dice& chance) {
  switch (chance.upto(7)) {
    case 0:
      return compare_and_set_args{usual_name(chance), any_value(chance), any_expectation(chance),
                                  chance.one_in(3)};
    case 1: return append_args{usual_name(chance), any_value(chance)};
    case 2: return any_put_all(chance);
    case 3: return count_keys_args{chance.one_in(2) ? "" : any_name(chance)};
    case 4: return any_watch(chance);
    default: return any_get_all(chance);
  }
}

wish any_push_or_pop(dice& chance, std::optional<task_id> task) {
  wish made{task, pop_args{chance.one_in(20) ? any_name(chance) : "q", any_timeout(chance)}};
  if (chance.one_in(2)) made.what = push_args{"q", std::string(chance.upto(30), 'i')};
  return made;
}

wish any_exchange(dice& chance, std::optional<task_id> task) {
  exchange_topology_args args{usual_name(chance), {}, any_timeout(chance)};
  args.mine.boot_id = chance.one_in(10) ? "moved" : "here";
  args.mine.devices.resize(chance.one_in(10) ? chance.upto(200) : 1);
  if (chance.one_in(10)) args.mine.partition_index = 0;
  return {task, std::move(args)};
}

request any_error(dice& chance) {
  if (!chance.one_in(6)) return inspect_args{};
  return report_error_args{
      status{chance.one_in(5) ? errc::ok : errc::internal, std::string(chance.upto(80), 'e')}};
}

alive_args any_query(dice& chance, std::uint32_t num_tasks, task_id asking) {
  alive_args args{.timeout = any_timeout(chance)};
  if (chance.one_in(2)) args.tasks = {any_task(chance, num_tasks), asking};
  return args;
}

request any_question(dice& chance) {
  if (chance.one_in(3)) return why_args{};
  return report_progress_args{chance.upto(5)};
}

// Mostly of what there might be now.
std::optional<std::uint64_t> any_version(dice& chance) {
  if (chance.one_in(3)) return std::nullopt;
  return chance.upto(chance.one_in(10) ? 100'000 : 40);
}

request any_watch_of_job(dice& chance) {
  if (chance.one_in(2)) return watch_tasks_args{any_version(chance), any_timeout(chance)};
  return watch_events_args{any_version(chance), static_cast<severity>(chance.upto(2)),
                           any_timeout(chance)};
}

}  // namespace

task_id any_task(dice& chance, std::uint32_t num_tasks) {
  auto const last = chance.one_in(20) ? num_tasks + 1 : num_tasks - 1;
  return task_id{static_cast<std::uint32_t>(chance.upto(last))};
}

wish any_wish(dice& chance, std::uint32_t num_tasks, task_id home, bool is_calm) {
  std::optional<task_id> task;
  if (!is_calm && !chance.one_in(4)) task = any_task(chance, num_tasks);
  switch (is_calm && !chance.one_in(30) ? 5 + chance.upto(24) : chance.upto(29)) {
    case 0:
    case 1:
    case 2: return any_join(chance, num_tasks);
    case 3: return {task, leave_args{any_timeout(chance), chance.one_in(2)}};
    case 4:
      if (chance.one_in(2)) return any_reset(chance, num_tasks);
      return {task, any_error(chance)};
    case 5:
    case 6:
    case 7: return {task, any_barrier(chance, num_tasks, task.value_or(home))};
    case 8: return {task, any_cancel(chance)};
    case 9:
      return {task,
              count_barrier_args{usual_name(chance), static_cast<std::uint32_t>(chance.upto(3)),
                                 any_timeout(chance)}};
    case 10:
      return {task,
              put_args{usual_name(chance), any_value(chance), chance.one_in(2), chance.one_in(3)}};
    case 11: return {task, get_args{usual_name(chance), any_timeout(chance)}};
    case 12: return {task, try_get_args{usual_name(chance)}};
    case 13: return {task, list_args{chance.one_in(2) ? "" : any_name(chance)}};
    case 14:
      if (chance.one_in(2)) return {task, remove_tree_args{usual_name(chance), false}};
      return {task, remove_args{usual_name(chance)}};
    case 15:
      return {task,
              increment_args{usual_name(chance), static_cast<std::int64_t>(chance.upto(9)) - 4}};
    case 16:
    case 17:
    case 18: return {task, any_of_keys(chance)};
    case 19:
    case 20: return any_push_or_pop(chance, task);
    case 21: return any_lock(chance, task);
    case 22: return any_preemption(chance, num_tasks, task);
    case 23: return {task, any_query(chance, num_tasks, task.value_or(home))};
    case 24: return {task, any_watch_of_job(chance)};
    case 25: return any_exchange(chance, task);
    case 26: return {task, any_question(chance)};
    case 27:
    case 28: return any_grant(chance, home);
    default: return any_count(chance, task);
  }
}

}  // namespace coxswain::core
