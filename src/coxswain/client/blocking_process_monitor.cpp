#include "coxswain/client/blocking_process_monitor.hpp"

#include "coxswain/client/blocking_worker.hpp"
#include "coxswain/net/signals_blocked.hpp"

#include <condition_variable>
#include <optional>
#include <system_error>
#include <utility>

namespace coxswain {

// The newest snapshot, and the thread that reports it. Snapshots come from the client's thread.
class blocking_process_monitor::reporter {
 public:
  reporter(detail::client_worker& of, observer notify, ending ended)
      : worker_{of}, stop_{of.next_stop()}, notify_{std::move(notify)}, ended_{std::move(ended)} {}

  ~reporter() {
    {
      std::lock_guard const lock{mutex_};
      stopped_ = true;
    }
    changed_.notify_all();
    if (watched_.valid()) {
      worker_.stop(stop_);
      watched_.wait();
      worker_.forget_stop(stop_);
    }
    if (thread_.joinable()) thread_.join();
  }
  reporter(reporter const&) = delete;
  reporter& operator=(reporter const&) = delete;

  void start() {
    watched_ = worker_.begin([this](client& from) { return watch(from); }, stop_);
    net::signals_blocked const blocked;
    try {
      thread_ = std::thread{[this] { report_changes(); }};
    } catch (std::system_error const& problem) {
      throw error{status{errc::resource_exhausted, problem.what()}};
    }
  }

  result<std::vector<process>> mark_failed(task_id task, status error) {
    std::lock_guard const lock{mutex_};
    auto lost = table_.mark_failed(task, std::move(error));
    if (lost && !lost->empty()) note(*lost);
    return lost;
  }

  [[nodiscard]] status check_current(std::span<process const> members) const {
    std::lock_guard const lock{mutex_};
    return table_.check_current(members);
  }

  [[nodiscard]] bool is_telling() const noexcept {
    return std::this_thread::get_id() == thread_.get_id();
  }

  [[nodiscard]] bool forked() const noexcept { return worker_.forked(); }

 private:
  // On the client's thread.
  asio::awaitable<void> watch(client& from) {
    process_monitor source{from};
    auto const take = [this](tasks_result const& tasks, std::span<process const>) {
      std::lock_guard const lock{mutex_};
      note(table_.update(tasks));
    };
    auto why = co_await source.run(take);
    std::lock_guard const lock{mutex_};
    why_ = std::move(why);
    changed_.notify_all();
  }

  // Under the lock.
  void note(std::vector<process> const& lost) {
    lost_.insert(lost_.end(), lost.begin(), lost.end());
    has_update_ = true;
    changed_.notify_all();
  }

  void report_changes() {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return has_update_ || why_ || stopped_; });
      if (stopped_ || !has_update_) break;
      has_update_ = false;
      tasks_result const tasks = table_.tasks();
      auto const lost = std::exchange(lost_, {});
      lock.unlock();
      notify_(tasks, lost);
      lock.lock();
    }
    if (stopped_) return;
    lock.unlock();
    if (ended_) ended_(*why_);
  }

  detail::client_worker& worker_;
  std::uint64_t stop_;
  observer notify_;
  ending ended_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  process_table table_;
  std::vector<process> lost_;  // not reported yet
  bool has_update_{};
  bool stopped_{};
  std::optional<status> why_;  // no further snapshot will come

  std::future<void> watched_;
  std::thread thread_;
};

blocking_process_monitor::blocking_process_monitor(blocking_client& of, observer notify,
                                                   ending ended)
    : reporter_{std::make_unique<reporter>(*of.worker_, std::move(notify), std::move(ended))} {
  reporter_->start();
}

blocking_process_monitor::~blocking_process_monitor() {
  // In a child process there are no such threads.
  if (reporter_->forked()) static_cast<void>(reporter_.release());
}

result<std::vector<process>> blocking_process_monitor::mark_failed(task_id task, status error) {
  return reporter_->mark_failed(task, std::move(error));
}

status blocking_process_monitor::check_current(std::span<process const> members) const {
  return reporter_->check_current(members);
}

bool blocking_process_monitor::is_telling() const noexcept { return reporter_->is_telling(); }

}  // namespace coxswain
