#pragma once
// The coordinator on a thread of its own, for blocking programs: a launcher's agent, a test, a
// Python process that is both coordinator and task 0.
//
//   coxswain::server::options options;
//   options.core.num_tasks = 8;
//   coxswain::server::background_server coordinator{options};
//   std::cout << coordinator.addresses().front() << '\n';
//   coordinator.wait_done();
//
// Thread-safe: every function may be called from any thread, also from the log of its options,
// which runs on the server's thread. After fork() a child must not use it. The thread handles no
// signals.

#include "coxswain/net/asio.hpp"
#include "coxswain/server/options.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coxswain::server {

class server;

class background_server {
 public:
  // Returns when it listens and serves. Throws coxswain::error as `server` does, and
  // RESOURCE_EXHAUSTED if no thread can be created.
  explicit background_server(options o);

  // Stops as stop() does and ends the thread. Not from the log.
  ~background_server();
  background_server(background_server const&) = delete;
  background_server& operator=(background_server const&) = delete;

  // The addresses it listens on, as server::addresses().
  [[nodiscard]] std::vector<std::string> const& addresses() const;

  // Runs `work` with the server on its thread, and returns or throws what it does, such as
  // ask(&server::look). Also after stop.
  template <class Work>
  auto ask(Work work) const -> std::invoke_result_t<Work, class server&> {
    using outcome = std::invoke_result_t<Work, class server&>;
    if constexpr (std::is_void_v<outcome>) {
      run([&](asio::io_context&, class server& s) { std::invoke(work, s); });
    } else {
      std::optional<outcome> got;
      run([&](asio::io_context&, class server& s) { got.emplace(std::invoke(work, s)); });
      return *std::move(got);
    }
  }

  // Runs `work` on the server's thread and returns when it has ended; throws what it throws. For
  // objects on the server's io_context, such as a status page; destroy them here too, before the
  // server.
  using beside = std::function<void(asio::io_context&, class server&)>;
  void run(beside const& work) const;

  // An orderly stop: returns when every peer has read its goodbye, or `linger` has passed. From the
  // log it returns at once. A second call waits for the first.
  void stop(std::string reason);

  // Returns when the job is over, as server::job_done(), or the server was stopped. Not from the
  // log.
  void wait_done();

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace coxswain::server
