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

barrier_args any_barrier(dice& chance, std::uint32_t num_tasks, task_id asking) {
  barrier_args args;
  args.name = usual_name(chance);
  args.timeout = any_timeout(chance);
  if (chance.one_in(4)) {
    for (auto i = chance.upto(2); i > 0; --i) {
      args.participants.push_back(any_task(chance, num_tasks));
    }
    args.participants.push_back(asking);
  }
  args.gather = chance.one_in(4);
  if (args.gather || chance.one_in(20)) args.data = std::string(chance.upto(45), 'g');
  if (chance.one_in(4)) args.progress_every = chance.one_of(short_times);
  return args;
}

cancel_barrier_args any_cancel(dice& chance) {
  cancel_barrier_args args;
  args.name = usual_name(chance);
  if (chance.one_in(2)) args.round = round_number{chance.upto(5)};
  return args;
}

wish any_join(dice& chance, std::uint32_t num_tasks) {
  task_id const task = any_task(chance, num_tasks);
  incarnation const self{chance.one_in(6) ? chance.upto(9) : task.value};
  return {task, join_args{self, any_timeout(chance)}};
}

wish any_count(dice& chance, std::optional<task_id> task) {
  if (chance.one_in(12)) return {task, std::monostate{}};  // a kind that is not known
  return {task, increment_args{"counted", 1}, true};
}

wish any_preemption(dice& chance, std::uint32_t num_tasks, std::optional<task_id> task) {
  if (chance.one_in(2)) return {task, frozen_args{chance.upto(4), chance.upto(9)}};
  return {task, preempt_args{any_task(chance, num_tasks), any_timeout(chance)}};
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

}  // namespace

task_id any_task(dice& chance, std::uint32_t num_tasks) {
  auto const last = chance.one_in(20) ? num_tasks + 1 : num_tasks - 1;
  return task_id{static_cast<std::uint32_t>(chance.upto(last))};
}

wish any_wish(dice& chance, std::uint32_t num_tasks, task_id home, bool is_calm) {
  std::optional<task_id> task;
  if (!is_calm && !chance.one_in(4)) task = any_task(chance, num_tasks);
  switch (is_calm && !chance.one_in(30) ? 5 + chance.upto(13) : chance.upto(18)) {
    case 0:
    case 1:
    case 2: return any_join(chance, num_tasks);
    case 3: return {task, leave_args{any_timeout(chance)}};
    case 4: return {task, any_error(chance)};
    case 5:
    case 6:
    case 7: return {task, any_barrier(chance, num_tasks, task.value_or(home))};
    case 8: return {task, any_cancel(chance)};
    case 9:
      return {task,
              count_barrier_args{usual_name(chance), static_cast<std::uint32_t>(chance.upto(3)),
                                 any_timeout(chance)}};
    case 10:
      return {task, put_args{usual_name(chance), std::string(chance.upto(chance.upto(3100)), 'v'),
                             chance.one_in(2)}};
    case 11: return {task, get_args{usual_name(chance), any_timeout(chance)}};
    case 12: return {task, try_get_args{usual_name(chance)}};
    case 13: return {task, list_args{chance.one_in(2) ? "" : any_name(chance)}};
    case 14: return {task, remove_args{usual_name(chance), false}};
    case 15:
      return {task,
              increment_args{usual_name(chance), static_cast<std::int64_t>(chance.upto(9)) - 4}};
    case 16: return any_preemption(chance, num_tasks, task);
    case 17: return any_exchange(chance, task);
    default: return any_count(chance, task);
  }
}

}  // namespace coxswain::core
