#include "coordinator_process.hpp"

#include "coxswain/net/asio.hpp"
#include "coxswain/server/server.hpp"

#include <chrono>
#include <exception>
#include <iostream>
#include <utility>

#include <unistd.h>

namespace coxswain::bench {
namespace {

// Prints what is amiss, but not for ever: the program's own lines are to be seen.
class short_log {
 public:
  void operator()(core::event const& e) {
    if (e.level == core::severity::info || left_ == 0) return;
    std::cerr << "coordinator: " << e.text << '\n';
    if (--left_ == 0) std::cerr << "coordinator: (its further warnings are not shown)\n";
  }

 private:
  int left_{3};
};

// When it is asked: once all sessions have ended, so that their last words are in it.
asio::awaitable<void> hand_out_recording(server::server const& coordinator, channel& control) {
  auto const executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor asked{executor, ::dup(control.fd())};
  co_await asked.async_wait(asio::posix::descriptor_base::wait_read, asio::use_awaitable);
  if (!control.receive()) co_return;
  asio::steady_timer pause{executor};
  auto const patient_until = std::chrono::steady_clock::now() + 5s;
  while (coordinator.look().sessions > 0 && std::chrono::steady_clock::now() < patient_until) {
    pause.expires_after(5ms);
    co_await pause.async_wait(asio::use_awaitable);
  }
  control.send(message_kind::recording, coordinator.recording());
}

}  // namespace

void serve_coordinator(coordinator_plan plan, channel& control) {
  asio::io_context io{1};
  server::options options;
  options.listen = {plan.listen};
  options.owns_process = true;
  options.tls = plan.tls;
  options.handshakes_per_second_max = 1'000'000;              // all tasks are on one host
  plan.job.memory_bytes_max = options.core.memory_bytes_max;  // as much as this machine allows
  options.core = std::move(plan.job);
  if (plan.record_bytes_max) options.record_bytes_max = *plan.record_bytes_max;
  if (!plan.is_quiet) options.log = short_log{};
  server::server coordinator{io, options};
  control.send(message_kind::listening, coordinator.addresses().at(0));

  auto pass_on = [](std::exception_ptr problem) {
    if (problem) std::rethrow_exception(problem);
  };
  asio::co_spawn(io, coordinator.run(), pass_on);
  if (plan.record_bytes_max) asio::co_spawn(io, hand_out_recording(coordinator, control), pass_on);
  io.run();
}

}  // namespace coxswain::bench
