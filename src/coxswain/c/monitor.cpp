// The monitor of coxswain.h, on top of blocking_process_monitor.

#include "coxswain/c/abi.hpp"
#include "coxswain/client/blocking_process_monitor.hpp"

#include <utility>

using namespace coxswain;
using namespace coxswain::c;

namespace {

std::int32_t number_of(task_state state) {
  switch (state) {
    case task_state::never_connected:
    case task_state::joining: return COXSWAIN_PROCESS_UNINITIALIZED;
    case task_state::connected: return COXSWAIN_PROCESS_CONNECTED;
    case task_state::failed: return COXSWAIN_PROCESS_ERROR;
    case task_state::left:
    case task_state::returning: return COXSWAIN_PROCESS_DISCONNECTED;
  }
  return COXSWAIN_PROCESS_UNSPECIFIED;
}

coxswain_process_info info_of(core::snapshot::task const& t) {
  return {t.id.value, t.self.value, number_of(t.state), static_cast<std::int32_t>(t.error.code()),
          string_of(t.error.message())};
}

}  // namespace

struct coxswain_monitor {
 public:
  coxswain_monitor(coxswain_client const& of, coxswain_monitor_callback callback, void* user_data)
      : job_{of.job},
        callback_{callback},
        user_data_{user_data},
        monitor_{*job_,
                 [this](core::tasks_answer const& tasks, std::span<process const> lost) {
                   last_ = tasks;
                   notify(lost, nullptr);
                 },
                 [this](status const& why) {
                   coxswain_status const reason{why};
                   notify({}, &reason);
                 }} {}

  [[nodiscard]] blocking_process_monitor& processes() noexcept { return monitor_; }
  [[nodiscard]] blocking_process_monitor const& processes() const noexcept { return monitor_; }

 private:
  void notify(std::span<process const> lost, coxswain_status const* ended) const {
    std::vector<coxswain_process_info> infos;
    for (auto const& t : last_.tasks) infos.push_back(info_of(t));
    std::vector<coxswain_process> gone;
    for (auto const& p : lost) gone.push_back({p.task.value, p.incarnation.value});
    coxswain_process_update const update{sizeof(coxswain_process_update),
                                         last_.version,
                                         infos.data(),
                                         infos.size(),
                                         gone.data(),
                                         gone.size(),
                                         ended};
    callback_(&update, user_data_);
  }

  std::shared_ptr<blocking_client> job_;
  coxswain_monitor_callback callback_;
  void* user_data_;
  core::tasks_answer last_;           // the monitor's thread's
  blocking_process_monitor monitor_;  // last: its callback runs before it is complete
};

coxswain_status* coxswain_monitor_start(coxswain_client* client, coxswain_monitor_callback callback,
                                        void* user_data, coxswain_monitor** monitor) {
  return outcome_of([&] {
    static_cast<void>(job_of(client));
    need(reinterpret_cast<void const*>(callback), "the callback");
    need(monitor, "where the monitor goes");
    *monitor = new coxswain_monitor{*client, callback, user_data};
  });
}

coxswain_status* coxswain_monitor_stop(coxswain_monitor* monitor) {
  if (monitor && monitor->processes().is_telling()) {
    return given({errc::failed_precondition, "a monitor cannot be stopped in its own callback"});
  }
  delete monitor;
  return nullptr;
}

coxswain_status* coxswain_monitor_mark_failed(coxswain_monitor* monitor, uint32_t task,
                                              int32_t error_code, coxswain_string error_message) {
  return outcome_of([&] {
    need(monitor, "the monitor");
    status why{failure_of(error_code), std::string{view_of(error_message)}};
    monitor->processes().mark_failed(task_id{task}, std::move(why)).value();
  });
}

coxswain_status* coxswain_monitor_check_current(coxswain_monitor const* monitor,
                                                coxswain_process const* members,
                                                size_t member_count) {
  return outcome_of([&] {
    need(monitor, "the monitor");
    if (member_count > 0) need(members, "the list of members");
    std::vector<process> all;
    for (auto const& m : std::span{members, member_count}) {
      all.push_back({task_id{m.task}, incarnation{m.incarnation}});
    }
    if (auto why = monitor->processes().check_current(all); !why.ok()) throw error{std::move(why)};
  });
}
