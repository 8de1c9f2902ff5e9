#pragma once
// Two clients and the real coordinator, over real sockets, in one io_context.

#include "coxswain/client/client.hpp"

#include "coxswain/server/server.hpp"
#include "tests/client/fake_coordinator.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <cstdint>
#include <utility>

namespace coxswain::test {

using namespace asio::experimental::awaitable_operators;

inline server::options server_options(std::uint32_t num_tasks) {
  server::options options;
  options.core.num_tasks = num_tasks;
  options.linger = 1s;
  return options;
}

// A coordinator for two tasks.
class two_clients {
 protected:
  two_clients() { asio::co_spawn(io, coordinator.run(), asio::detached); }

  [[nodiscard]] client_options options() const {
    return client_options{coordinator.addresses().front()};
  }
  [[nodiscard]] client_options options(std::uint32_t task) const {
    return client_options{coordinator.addresses().front(), task_id{task}};
  }

  [[nodiscard]] client_options recoverable(std::uint32_t task) const {
    auto with = options(task);
    with.recoverable = true;
    return with;
  }

  // Both clients join.
  asio::awaitable<void> join_both() { return join_both(options(0)); }
  asio::awaitable<void> join_both(client_options first) {
    a = co_await client::connect(std::move(first));
    b = co_await client::connect(options(1));
    co_await (a.join() && b.join());
  }

  // Waits until the coordinator has no session left.
  asio::awaitable<void> coordinator_forgets() {
    while (coordinator.look().sessions > 0) co_await asio::post(io, asio::use_awaitable);
  }

  asio::io_context io{1};
  server::server coordinator{io, server_options(2)};
  client a;
  client b;
};

// The error of a call; OK if none.
template <class T>
asio::awaitable<status> outcome_of(asio::awaitable<T> call) {
  status outcome;
  try {
    (void)co_await std::move(call);
  } catch (error const& e) {
    outcome = e.outcome();
  }
  co_return outcome;
}

inline asio::awaitable<status> outcome_of(asio::awaitable<void> call) {
  status outcome;
  try {
    co_await std::move(call);
  } catch (error const& e) {
    outcome = e.outcome();
  }
  co_return outcome;
}

}  // namespace coxswain::test
