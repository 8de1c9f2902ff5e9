#include "coxswain/client/agent_text.hpp"

#include <cmath>
#include <cstdio>
#include <string_view>

namespace coxswain {
namespace {

constexpr std::size_t name_bytes_max = 256;

std::string quoted(std::string_view what, std::string_view name) {
  std::string text{what};
  text.append(" '").append(name.substr(0, name_bytes_max));
  if (name.size() > name_bytes_max) text += "...";
  return text += "'";
}

struct describe {
  std::string operator()(std::monostate) const { return "heartbeat"; }
  std::string operator()(core::hello_args const&) const { return "hello"; }
  std::string operator()(core::resume_args const&) const { return "resume"; }
  std::string operator()(core::bye_args const&) const { return "bye"; }
  std::string operator()(core::withdraw_args const&) const { return "withdraw"; }
  std::string operator()(core::ask_waiting_args const&) const { return "ask_waiting"; }
  std::string operator()(core::join_args const&) const { return "join"; }
  std::string operator()(core::leave_args const&) const { return "leave"; }
  std::string operator()(core::report_error_args const&) const { return "report of an error"; }
  std::string operator()(core::barrier_args const& a) const { return quoted("barrier", a.name); }
  std::string operator()(core::cancel_barrier_args const& a) const {
    return quoted("cancelling of barrier", a.name);
  }
  std::string operator()(core::count_barrier_args const& a) const {
    return quoted("count barrier", a.name);
  }
  std::string operator()(core::put_args const& a) const { return quoted("put of key", a.key); }
  std::string operator()(core::get_args const& a) const { return quoted("get of key", a.key); }
  std::string operator()(core::try_get_args const& a) const {
    return quoted("try_get of key", a.key);
  }
  std::string operator()(core::list_args const& a) const {
    return quoted("list of directory", a.directory);
  }
  std::string operator()(core::remove_args const& a) const {
    return quoted("removal of key", a.key);
  }
  std::string operator()(core::increment_args const& a) const {
    return quoted("increment of key", a.key);
  }
  std::string operator()(core::inspect_args const&) const { return "inspect"; }
  std::string operator()(core::compare_and_set_args const& a) const {
    return quoted("compare_and_set of key", a.key);
  }
  std::string operator()(core::append_args const& a) const {
    return quoted("append to key", a.key);
  }
  std::string operator()(core::get_all_args const& a) const {
    return "get of " + std::to_string(a.keys.size()) + " keys";
  }
  std::string operator()(core::put_all_args const& a) const {
    return "put of " + std::to_string(a.entries.size()) + " keys";
  }
  std::string operator()(core::count_keys_args const& a) const {
    return quoted("count of directory", a.directory);
  }
  std::string operator()(core::push_args const& a) const {
    return quoted("push to queue", a.queue);
  }
  std::string operator()(core::pop_args const& a) const { return quoted("pop of queue", a.queue); }
  std::string operator()(core::watch_keys_args const& a) const {
    return quoted("watch of directory", a.directory);
  }
  std::string operator()(core::preempt_args const&) const { return "notice of a preemption"; }
  std::string operator()(core::grant_args const&) const { return "a grant"; }
  std::string operator()(core::frozen_args const&) const { return "agreement on a step"; }
  std::string operator()(core::reset_args const&) const { return "reset"; }
  std::string operator()(core::alive_args const&) const { return "alive query"; }
  std::string operator()(core::watch_tasks_args const&) const { return "watch of the tasks"; }
  std::string operator()(core::watch_events_args const&) const { return "watch of the events"; }
  std::string operator()(core::report_progress_args const&) const { return "report of progress"; }
  std::string operator()(core::why_args const&) const { return "why"; }
  std::string operator()(core::exchange_topology_args const& a) const {
    return quoted("exchange of topologies", a.platform);
  }
};

}  // namespace

std::string text_of(duration time) {
  if (time == without_limit) return "no limit";
  using seconds = std::chrono::duration<double>;
  double const count = std::chrono::duration_cast<seconds>(time).count();
  char text[32];
  if (std::abs(count) < 1) {
    std::snprintf(text, sizeof text, "%.0f ms", count * 1000);
  } else {
    std::snprintf(text, sizeof text, "%.10g s", std::round(count * 10) / 10);
  }
  return text;
}

std::string text_of(core::request const& what) { return std::visit(describe{}, what); }

}  // namespace coxswain
