#include "tests/fuzz/xla_service_world.hpp"

#include "coxswain/xla/codec.hpp"
#include "tests/fuzz/violation.hpp"
#include "tests/xla/xla_service_over_core.hpp"

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

using coxswain::test::random_source;
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

core::config config_by(random_source& rng) {
  core::config made;
  made.recoverable = rng.one_in(2);
  made.join_barrier = !rng.one_in(4);
  made.heartbeat_timeout = 10s;
  made.reconnect_grace = 1s;
  if (rng.one_in(3)) made.memory_bytes_max = 256 * 1024;
  if (rng.one_in(4)) made.leave_timeout_max = 3s;
  if (rng.one_in(4)) made.join_timeout_max = 5s;
  if (rng.one_in(2)) made.page_entries_max = 1;
  return made;
}

class world final : test::xla_service_over_core {
 public:
  world(random_source& rng, bool is_strict)
      : xla_service_over_core{num_tasks, is_strict, config_by(rng)}, rng_{rng} {}

  std::string run() {
    auto const carried = logic().memory()->transit();
    connections_.push_back(connect());
    for (std::size_t i = 0; i < steps_max && !rng_.is_spent(); ++i) step();
    while (!connections_.empty()) lose(connections_.size() - 1);
    wait(logic().options().heartbeat_timeout * 2);
    if (entrance().open_calls() != 0) report_violation("calls are left: ", entrance().open_calls());
    if (entrance().task_sessions() != 0 || entrance().clients() != 0) {
      report_violation("sessions are left: ", entrance().task_sessions());
    }
    if (auto const left = logic().look(now).sessions; left != 0) {
      report_violation("sessions of the core are left: ", left);
    }
    if (logic().memory()->transit() != carried) {
      report_violation("bytes are still counted: ", logic().memory()->transit() - carried);
    }
    return std::move(transcript_);
  }

 private:
  void step() {
    auto const which = rng_.upto(connections_.size() - 1);
    switch (rng_.upto(15)) {
      case 0:
        lose(which);
        if (connections_.empty()) connections_.push_back(connect());
        return;
      case 1:
        if (connections_.size() < connections_max) connections_.push_back(connect());
        return;
      case 2: return give_up();
      case 3: return wait(rng_.one_of(waits));
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
    close(on, rng_.one_in(2) ? core::loss::closed : core::loss::unreachable);
  }

  void give_up() {
    if (open_.empty()) return;
    auto const one = rng_.one_of(open_);
    open_.erase(one);
    cancel({one.first, one.second}, rng_.one_in(4));
  }

  void put_in() {
    if (!rng_.one_in(4)) return;
    if (rng_.one_in(32)) {
      static_cast<void>(logic().put_in(now, core::stopped{"the end"}));
      return settle();
    }
    core::preempt_args notice;
    notice.task = task_id{static_cast<std::uint32_t>(rng_.upto(num_tasks))};
    static_cast<void>(logic().put_in(now, notice));
    settle();
  }

  void any_call(connection_id on) {
    method_path const path{static_cast<method>(rng_.upto(methods - 1)),
                           rng_.one_in(2) ? generation::second : generation::third};
    std::string name = path_of(path);
    std::string message = encode_request(path, any_request(path));
    if (rng_.one_in(12)) message = rng_.bytes(rng_.size(40));
    if (rng_.one_in(12) && !message.empty()) {
      message[rng_.upto(message.size() - 1)] = static_cast<char>(rng_.upto(255));
    }
    if (rng_.one_in(16)) name.resize(rng_.upto(name.size()));
    std::optional<duration> timeout;
    if (rng_.one_in(2)) timeout = std::chrono::seconds{rng_.upto(20)};
    bool const is_full = rng_.one_in(32);
    // The reply may come before `call` returns.
    next_ += 2;
    open_.emplace(on, next_);
    auto const id = call(on, name, message, timeout, is_full);
    if (id.stream != next_) report_violation("calls are counted wrongly");
  }

  request any_request(method_path of) {
    request made;
    auto const task = static_cast<std::int32_t>(rng_.upto(num_tasks));
    if (!rng_.one_in(8)) made.task = any_task(task);
    // Mostly the incarnation of that task.
    if (!rng_.one_in(8)) {
      made.self = incarnation{static_cast<std::uint64_t>(10 + task) + 100 * rng_.size(2)};
    }
    if (of.of == generation::third && !rng_.one_in(32)) made.service = test::coordinator_self;
    made.name = rng_.one_of(names);
    made.value =
        rng_.one_in(16) ? std::string(rng_.size(60'000), 'x') : std::string{rng_.one_of(values)};
    made.overwrite = rng_.one_in(2);
    made.number = rng_.one_of(numbers);
    made.timeout_ms = rng_.one_of(numbers);
    if (rng_.one_in(8)) made.counter = rng_.one_of(numbers);
    for (auto n = rng_.size(4); n > 0; --n) {
      made.tasks.push_back(any_task(static_cast<std::int32_t>(rng_.upto(num_tasks))));
    }
    made.code = static_cast<std::int32_t>(rng_.upto(20));
    made.text = rng_.one_of(values);
    return made;
  }

  task_name any_task(std::int32_t id) {
    task_name made{id};
    if (rng_.one_in(8)) made.job = rng_.one_in(2) ? "jax_worker" : "other";
    made.recoverable = rng_.one_in(4);
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
    } else if (auto const* const bye = std::get_if<goodbye>(&what)) {
      transcript_ += bye->why.text();
    }
  }

  random_source& rng_;
  std::vector<connection_id> connections_;
  std::set<std::pair<connection_id, std::int32_t>> open_;  // calls without a reply
  std::int32_t next_{-1};
  std::string transcript_;
};

}  // namespace

std::string run_xla_service_world(random_source rng) {
  bool const is_strict = rng.one_in(3);
  return world{rng, is_strict}.run();
}

}  // namespace coxswain::xla
