#pragma once
// PUBLIC. Keeps a process_table up to date and reports each change, for runtimes that track all
// processes and must end their work with lost ones:
//
//   process_monitor monitor{job};
//   auto notify = [&](tasks_result const& tasks, std::span<process const> lost) { ... };
//   status const why = co_await monitor.run(notify);
//
// Not here: the detection of lost processes (process_table). Everything happens on the client's
// executor.

#include "coxswain/client/client.hpp"
#include "coxswain/client/process_table.hpp"

#include <functional>
#include <span>
#include <utility>

namespace coxswain {

class process_monitor {
 public:
  // Called with all tasks in order, and the processes lost since the last call. Must not throw.
  using observer = std::function<void(tasks_result const&, std::span<process const>)>;

  // The client must outlive it.
  explicit process_monitor(client& of) : client_{of} {}

  // Reports the tasks at once, and then after each change; changes in quick succession may be
  // reported as one. Continues when the job has failed, and ends with the reason when the client
  // ends or has lost the coordinator. Only one run at a time. Cancellation ends it with
  // operation_aborted, as every call of the client. Completion tokens as for those.
  template <detail::token_for<status>... Token>
  auto run(observer notify, Token&&... token) {
    return detail::initiate(detail::initiation{client_.get_executor()},
                            notify_all(std::move(notify)), std::forward<Token>(token)...);
  }

  // Like process_table::mark_failed; tasks that are lost by it are reported as well.
  result<std::vector<process>> mark_failed(task_id task, status error);

  // See process_table::check_current.
  [[nodiscard]] status check_current(std::span<process const> members) const {
    return table_.check_current(members);
  }
  [[nodiscard]] tasks_result const& tasks() const noexcept { return table_.tasks(); }

 private:
  asio::awaitable<status> notify_all(observer notify);

  client& client_;
  process_table table_;
  observer notify_;
};

}  // namespace coxswain
