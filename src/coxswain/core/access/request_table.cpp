#include "coxswain/core/access/request_table.hpp"

#include <array>
#include <type_traits>
#include <variant>

namespace coxswain::core {
namespace {

template <class Args>
using of = std::type_identity<Args>;

using enum request_row::trait;

// A request without a row does not compile.
constexpr request_row row_of(of<std::monostate>) {
  return {"heartbeat", "send heartbeats", role::reader};
}
constexpr request_row row_of(of<hello_args>) { return {"hello", "say hello", role::reader}; }
constexpr request_row row_of(of<resume_args>) { return {"resume", "resume", role::reader}; }
constexpr request_row row_of(of<bye_args>) { return {"bye", "say bye", role::reader}; }
constexpr request_row row_of(of<cancel_args>) { return {"cancel", "cancel", role::reader}; }
constexpr request_row row_of(of<ask_waiting_args>) {
  return {"ask_waiting", "ask what its own calls wait for", role::reader};
}
constexpr request_row row_of(of<get_args>) {
  return {"get", "get keys", role::reader, needs_memory | of_epoch};
}
constexpr request_row row_of(of<try_get_args>) { return {"try_get", "get keys", role::reader}; }
constexpr request_row row_of(of<get_all_args>) {
  return {"get_all", "get keys", role::reader, needs_memory | of_epoch};
}
constexpr request_row row_of(of<list_args>) { return {"list", "list keys", role::reader}; }
constexpr request_row row_of(of<count_keys_args>) {
  return {"count_keys", "count keys", role::reader};
}
constexpr request_row row_of(of<watch_keys_args>) {
  return {"watch_keys", "watch keys", role::reader, needs_memory};
}
constexpr request_row row_of(of<inspect_args>) {
  return {"inspect", "look at the job", role::reader};
}
constexpr request_row row_of(of<why_args>) {
  return {"why", "ask who waits for what", role::reader};
}
constexpr request_row row_of(of<alive_args>) {
  return {"alive", "ask who is alive", role::reader, needs_memory | together | of_epoch};
}
constexpr request_row row_of(of<watch_tasks_args>) {
  return {"watch_tasks", "watch tasks", role::reader, needs_memory};
}
constexpr request_row row_of(of<watch_events_args>) {
  return {"watch_events", "watch events", role::reader, needs_memory};
}
constexpr request_row row_of(of<put_args>) {
  return {"put", "put keys", role::operator_, stores | produces};
}
constexpr request_row row_of(of<put_all_args>) {
  return {"put_all", "put keys", role::operator_, stores | produces};
}
constexpr request_row row_of(of<compare_and_set_args>) {
  return {"compare_and_set", "compare and set keys", role::operator_, stores | produces};
}
constexpr request_row row_of(of<append_args>) {
  return {"append", "append to keys", role::operator_, stores | produces};
}
constexpr request_row row_of(of<increment_args>) {
  return {"increment", "increment keys", role::operator_, needs_memory | produces};
}
constexpr request_row row_of(of<remove_args>) { return {"remove", "remove keys", role::operator_}; }
constexpr request_row row_of(of<remove_tree_args>) {
  return {"remove_tree", "remove keys", role::operator_};
}
constexpr request_row row_of(of<push_args>) {
  return {"push", "push to queues", role::operator_, stores | produces};
}
constexpr request_row row_of(of<pop_args>) {
  return {"pop", "pop from queues", role::operator_, of_epoch};
}
constexpr request_row row_of(of<take_args>) {
  return {"take", "take from queues", role::operator_, of_epoch};
}
constexpr request_row row_of(of<update_lease_args>) {
  return {"update_lease", "take from queues", role::operator_};
}
constexpr request_row row_of(of<lock_args>) {
  return {"lock", "lock", role::operator_, needs_memory | of_epoch};
}
constexpr request_row row_of(of<try_lock_args>) {
  return {"try_lock", "lock", role::operator_, needs_memory};
}
constexpr request_row row_of(of<unlock_args>) { return {"unlock", "unlock", role::operator_}; }
constexpr request_row row_of(of<count_barrier_args>) {
  return {"count_barrier", "wait at count barriers", role::operator_,
          needs_memory | together | of_epoch};
}
constexpr request_row row_of(of<cancel_barrier_args>) {
  return {"cancel_barrier", "cancel barriers", role::operator_};
}
constexpr request_row row_of(of<preempt_args>) {
  return {"preempt", "preempt tasks", role::operator_};
}
constexpr request_row row_of(of<join_args>) { return {"join", "join", role::worker}; }
constexpr request_row row_of(of<leave_args>) { return {"leave", "leave", role::worker, of_epoch}; }
constexpr request_row row_of(of<barrier_args>) {
  return {"barrier", "wait at barriers", role::worker, needs_memory | together | of_epoch};
}
constexpr request_row row_of(of<report_error_args>) {
  return {"report_error", "report errors", role::worker};
}
constexpr request_row row_of(of<report_progress_args>) {
  return {"report_progress", "report progress", role::worker};
}
constexpr request_row row_of(of<reset_args>) { return {"reset", "reset tasks", role::worker}; }
constexpr request_row row_of(of<grant_args>) {
  return {"grant", "let programs act for a task", role::worker};
}
constexpr request_row row_of(of<frozen_args>) {
  return {"frozen", "agree on a step", role::worker, of_epoch};
}
constexpr request_row row_of(of<next_epoch_args>) {
  return {"next_epoch", "wait for the next epoch", role::worker, together};
}
constexpr request_row row_of(of<epoch_members_args>) {
  return {"epoch_members", "look at the job", role::reader};
}
constexpr request_row row_of(of<resize_args>) {
  return {"resize", "resize the job", role::operator_};
}
constexpr request_row row_of(of<exchange_topology_args>) {
  return {"exchange_topology", "exchange topologies", role::worker,
          needs_memory | together | of_epoch};
}

template <class... Args>
constexpr std::array<request_row, sizeof...(Args)> rows_of(of<std::variant<Args...>>) {
  return {row_of(of<Args>{})...};
}

constexpr auto rows = rows_of(of<request>{});

}  // namespace

request_row const& row_of(request const& what) noexcept { return rows[what.index()]; }

std::string_view name(operation what) noexcept {
  return what == unknown_operation ? "unknown" : rows[what.value].name;
}

}  // namespace coxswain::core
