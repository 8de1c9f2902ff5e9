#include "tests/fuzz/door_world.hpp"

#include "coxswain/xla/codec.hpp"
#include "tests/fuzz/violation.hpp"
#include "tests/xla/door_over_core.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::xla {
namespace {

using coxswain::test::dice;
using coxswain::test::report_violation;

constexpr std::uint32_t num_tasks = 3;
constexpr std::size_t steps_max = 300;
constexpr std::size_t connections_max = 5;
constexpr std::size_t details_bytes_max = 4'096;

constexpr std::array<std::string_view, 8> names{
    "", "a", "a/b", "a/c", "/", "PjRT_Client_Connect", "b", "RECEIVED_PREEMPTION_NOTICE"};
constexpr std::array<std::string_view, 4> values{"", "1", "v", "abc"};
constexpr std::array<std::int64_t, 7> numbers{0,
                                              1,
                                              -1,
                                              7,
                                              3'000,
                                              std::numeric_limits<std::int64_t>::max(),
                                              std::numeric_limits<std::int64_t>::min()};
constexpr std::array<duration, 5> waits{1ms, 60ms, 700ms, 2s, 12s};

core::config config_by(dice& chance) {
  core::config made;
  made.recoverable = chance.one_in(2);
  made.join_barrier = !chance.one_in(4);
  made.heartbeat_timeout = 10s;
  made.reconnect_grace = 1s;
  if (chance.one_in(3)) made.memory_bytes_max = 256 * 1024;
  if (chance.one_in(4)) made.leave_timeout_max = 3s;
  if (chance.one_in(4)) made.join_timeout_max = 5s;
  if (chance.one_in(2)) made.page_entries_max = 1;
  return made;
}

class world final : test::door_over_core {
 public:
  world(dice& chance, bool is_strict)
      : door_over_core{num_tasks, is_strict, config_by(chance)}, chance_{chance} {}

  std::string run() {
    auto const carried = brain().memory()->transit();
    connections_.push_back(connect());
    for (std::size_t i = 0; i < steps_max && !chance_.is_spent(); ++i) step();
    while (!connections_.empty()) lose(connections_.size() - 1);
    wait(brain().options().heartbeat_timeout * 2);
    if (entrance().open_calls() != 0) report_violation("calls are left: ", entrance().open_calls());
    if (entrance().task_sessions() != 0 || entrance().clients() != 0) {
      report_violation("sessions are left: ", entrance().task_sessions());
    }
    if (auto const left = brain().look(now).sessions; left != 0) {
      report_violation("sessions of the core are left: ", left);
    }
    if (brain().memory()->transit() != carried) {
      report_violation("bytes are still counted: ", brain().memory()->transit() - carried);
    }
    return std::move(transcript_);
  }

 private:
  void step() {
    auto const which = chance_.upto(connections_.size() - 1);
    switch (chance_.upto(15)) {
      case 0: return lose(which);
      case 1:
        if (connections_.size() < connections_max) connections_.push_back(connect());
        return;
      case 2: return give_up();
      case 3: return wait(chance_.one_of(waits));
      case 4: return pong(connections_[which]);
      case 5: return heard(connections_[which]);
      case 6: return entrance().begin();
      case 7: return put_in();
      default: return any_call(connections_[which]);
    }
  }

  void lose(std::size_t which) {
    connection_id const on = connections_[which];
    connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(which));
    std::erase_if(open_, [&](auto const& one) { return one.first == on; });
    close(on, chance_.one_in(2) ? core::loss::closed : core::loss::unreachable);
    if (connections_.empty() && !chance_.is_spent()) connections_.push_back(connect());
  }

  void give_up() {
    if (open_.empty()) return;
    auto const one = chance_.one_of(open_);
    open_.erase(one);
    cancel({one.first, one.second}, chance_.one_in(4));
  }

  void put_in() {
    if (!chance_.one_in(4)) return;
    if (chance_.one_in(32)) {
      static_cast<void>(brain().put_in(now, core::stopped{"the end"}));
      return settle();
    }
    core::preempt_args notice;
    notice.task = task_id{static_cast<std::uint32_t>(chance_.upto(num_tasks))};
    static_cast<void>(brain().put_in(now, notice));
    settle();
  }

  void any_call(connection_id on) {
    method_path const path{static_cast<method>(chance_.upto(methods - 1)),
                           chance_.one_in(2) ? generation::second : generation::third};
    std::string name = path_of(path);
    std::string message = encode_request(path, any_request(path));
    if (chance_.one_in(12)) message = chance_.bytes(chance_.size(40));
    if (chance_.one_in(12) && !message.empty()) {
      message[chance_.upto(message.size() - 1)] = static_cast<char>(chance_.upto(255));
    }
    if (chance_.one_in(16)) name.resize(chance_.upto(name.size()));
    std::optional<duration> timeout;
    if (chance_.one_in(2)) timeout = std::chrono::seconds{chance_.upto(20)};
    bool const is_crowded = chance_.one_in(32);
    // The reply may come before `call` returns.
    next_ += 2;
    open_.emplace(on, next_);
    auto const id = call(on, name, message, timeout, is_crowded);
    if (id.stream != next_) report_violation("calls are counted wrongly");
  }

  request any_request(method_path of) {
    request made;
    auto const task = static_cast<std::int32_t>(chance_.upto(num_tasks));
    if (!chance_.one_in(8)) made.task = any_task(task);
    // Mostly the incarnation of that task.
    if (!chance_.one_in(8)) {
      made.self = incarnation{static_cast<std::uint64_t>(10 + task) + 100 * chance_.size(2)};
    }
    if (of.of == generation::third && !chance_.one_in(32)) made.service = test::coordinator_self;
    made.name = chance_.one_of(names);
    made.value = chance_.one_in(16) ? std::string(chance_.size(60'000), 'x')
                                    : std::string{chance_.one_of(values)};
    made.overwrite = chance_.one_in(2);
    made.number = chance_.one_of(numbers);
    made.timeout_ms = chance_.one_of(numbers);
    if (chance_.one_in(8)) made.counter = chance_.one_of(numbers);
    for (auto n = chance_.size(4); n > 0; --n) {
      made.tasks.push_back(any_task(static_cast<std::int32_t>(chance_.upto(num_tasks))));
    }
    made.code = static_cast<std::int32_t>(chance_.upto(20));
    made.text = chance_.one_of(values);
    return made;
  }

  task_name any_task(std::int32_t id) {
    task_name made{id};
    if (chance_.one_in(8)) made.job = chance_.one_in(2) ? "jax_worker" : "other";
    made.recoverable = chance_.one_in(4);
    return made;
  }

  void take(effect what) override {
    if (auto const* const r = std::get_if<reply>(&what)) {
      if (open_.erase({r->to.on, r->to.stream}) == 0) {
        report_violation("a reply that nobody waits for: ", r->how.text);
      }
      if (r->how.text.size() > text_bytes_max || r->how.details.size() > details_bytes_max) {
        report_violation("an error of ", r->how.text.size(), " and ", r->how.details.size(),
                         " bytes");
      }
      transcript_ += r->how.text + '\n' + r->how.details + r->what.head;
      transcript_ += r->what.tail.view();
    } else if (auto const* const e = std::get_if<core::event>(&what)) {
      transcript_ += e->text;
    } else if (auto const* const bye = std::get_if<farewell>(&what)) {
      transcript_ += bye->why.text();
    }
  }

  dice& chance_;
  std::vector<connection_id> connections_;
  std::set<std::pair<connection_id, std::int32_t>> open_;  // calls without a reply
  std::int32_t next_{-1};
  std::string transcript_;
};

}  // namespace

std::string run_door_world(dice chance) {
  bool const is_strict = chance.one_in(3);
  return world{chance, is_strict}.run();
}

}  // namespace coxswain::xla
