#include "coxswain/client/preemption_notifier.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/gate.hpp"

#include <optional>
#include <utility>

namespace coxswain {

using moment = std::chrono::system_clock::time_point;

struct preemption_notifier::state {
  state(asio::any_io_executor executor, int signal) : signals{std::move(executor), signal} {}

  asio::signal_set signals;
  std::optional<moment> noticed;
  net::gate told;  // or there will be nothing to tell
};

preemption_notifier::preemption_notifier(asio::any_io_executor executor, int signal)
    : state_{std::make_shared<state>(std::move(executor), signal)} {
  state_->signals.async_wait([self = state_](boost::system::error_code problem, int) {
    if (problem) return;
    self->noticed = std::chrono::system_clock::now();
    self->told.open();
  });
}

preemption_notifier::~preemption_notifier() {
  boost::system::error_code ignored;
  state_->signals.cancel(ignored);
  // The signal is given back at once, not when the context runs the next time. This alone would
  // leave the wait, which keeps the state, to nobody.
  state_->signals.clear(ignored);
  state_->told.open();
}

asio::awaitable<moment> preemption_notifier::will_be_preempted_at() const { return wait(state_); }

asio::awaitable<moment> preemption_notifier::wait(std::shared_ptr<state> self) {
  co_await self->told.wait();
  if (!self->noticed) {
    throw error{status{errc::cancelled, "the preemption notifier was destroyed"}};
  }
  co_return *self->noticed;
}

}  // namespace coxswain
