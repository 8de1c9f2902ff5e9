#include "coxswain/client/preemption_notifier.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/client/asking.hpp"
#include "coxswain/net/gate.hpp"

#include <pthread.h>

#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace coxswain {

using moment = std::chrono::system_clock::time_point;

namespace {

// The signal's disposition before the first of the existing notifiers. Asio would restore the
// default, which for SIGTERM ends the process. And it would report a forked child's signals to the
// parent, since they share its pipe: so in a child the previous disposition applies at once.
class disposition {
 public:
  explicit disposition(int signal) : signal_{signal} {
    static int const watched = ::pthread_atfork(before_fork, after_fork, in_child);
    static_cast<void>(watched);
    std::lock_guard const lock{mutex};
    if (is_inherited) {
      throw error{status{errc::failed_precondition,
                         "the process that forked this one has caught signals as notices of "
                         "preemption; start such a process with exec (spawn)"}};
    }
    if (auto& kept = before[signal_]; kept.notifiers++ == 0) {
      ::sigaction(signal_, nullptr, &kept.action);
    }
  }
  disposition(disposition const&) = delete;
  disposition& operator=(disposition const&) = delete;

  // After the signal is no longer caught. If others catch it, nothing happens.
  void give_back() {
    std::lock_guard const lock{mutex};
    if (is_inherited) return;
    auto& kept = before[signal_];
    struct sigaction now {};
    if (--kept.notifiers > 0 || ::sigaction(signal_, nullptr, &now) != 0) return;
    if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL) {
      ::sigaction(signal_, &kept.action, nullptr);
    }
  }

 private:
  static void before_fork() {
    sigset_t all;
    ::sigfillset(&all);
    mutex.lock();
    ::pthread_sigmask(SIG_SETMASK, &all, &mask_at_fork);
  }
  static void after_fork() {
    ::pthread_sigmask(SIG_SETMASK, &mask_at_fork, nullptr);
    mutex.unlock();
  }
  static void in_child() {
    for (auto const& [signal, kept] : before) {
      if (kept.notifiers > 0) ::sigaction(signal, &kept.action, nullptr);
    }
    is_inherited = !before.empty();
    after_fork();
  }

  struct kept_action {
    int notifiers{};
    struct sigaction action {};
  };
  inline static std::mutex mutex;
  inline static std::map<int, kept_action> before;
  inline static bool is_inherited{};
  inline static sigset_t mask_at_fork{};

  int signal_;
};

}  // namespace

struct preemption_notifier::state {
  state(asio::any_io_executor executor, int signal)
      : before{signal}, signals{std::move(executor), signal} {}

  disposition before;
  asio::signal_set signals;
  std::optional<moment> noticed;
  net::gate reported;  // or there will be nothing to report
};

preemption_notifier::preemption_notifier(asio::any_io_executor executor, int signal)
    : executor_{std::move(executor)}, state_{std::make_shared<state>(executor_, signal)} {
  state_->signals.async_wait([self = state_](boost::system::error_code problem, int) {
    if (problem) return;
    self->noticed = std::chrono::system_clock::now();
    self->reported.open();
  });
}

preemption_notifier::~preemption_notifier() {
  boost::system::error_code ignored;
  state_->signals.cancel(ignored);
  // The signal is released at once, not when the context runs the next time; the wait, which keeps
  // the state, is cancelled as well.
  state_->signals.clear(ignored);
  state_->before.give_back();
  state_->reported.open();
}

asio::awaitable<moment> preemption_notifier::wait(std::shared_ptr<state> self) {
  try {
    co_await self->reported.wait();
  } catch (boost::system::system_error const& e) {
    throw detail::cancelled_by_caller(e.code());
  }
  if (!self->noticed) {
    throw error{status{errc::cancelled, "the preemption notifier was destroyed"}};
  }
  co_return *self->noticed;
}

}  // namespace coxswain
