#include "coxswain/client/process_monitor.hpp"

#include "coxswain/client/asking.hpp"

#include <optional>
#include <utility>

namespace coxswain {
namespace {

// How long to wait before a watch that a limit refused is tried again.
constexpr duration retry_pause = 1s;

// Forgets the callback at the end of a scope.
class notifying {
 public:
  notifying(process_monitor::observer& place, process_monitor::observer notify) : place_{place} {
    place_ = std::move(notify);
  }
  ~notifying() { place_ = nullptr; }
  notifying(notifying const&) = delete;
  notifying& operator=(notifying const&) = delete;

 private:
  process_monitor::observer& place_;
};

}  // namespace

asio::awaitable<status> process_monitor::notify_all(observer notify) {
  notifying const while_running{notify_, std::move(notify)};
  auto const executor = co_await asio::this_coro::executor;
  asio::steady_timer pause{executor};
  std::optional<std::uint64_t> seen;
  status why;
  for (;;) {
    try {
      auto snapshot = co_await client_.watch_tasks(seen);
      seen = snapshot.version;
      auto const lost = table_.update(std::move(snapshot));
      notify_(table_.tasks(), lost);
      continue;
    } catch (error const& problem) {
      if (problem.code() == asio::error::operation_aborted) throw;
      why = problem.outcome();
    }
    if (why.code() != errc::resource_exhausted) break;
    pause.expires_after(retry_pause);
    boost::system::error_code cancelled;
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    if (cancelled) throw detail::cancelled_by_caller(cancelled);
  }
  co_return why;
}

result<std::vector<process>> process_monitor::mark_failed(task_id task, status error) {
  auto lost = table_.mark_failed(task, std::move(error));
  if (lost && !lost->empty() && notify_) notify_(table_.tasks(), *lost);
  return lost;
}

}  // namespace coxswain
