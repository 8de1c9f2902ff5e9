#pragma once
// Looks up the addresses of a name without blocking the event loop. The system's resolver blocks,
// for minutes if a name server does not answer, and cannot be cancelled. So it runs on detached
// threads: a caller that gives up continues at once, and so does the destruction of the context.
// (Asio's resolver makes it wait for the system's.)
//
// Not thread-safe.

#include "coxswain/base/status.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/gate.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace coxswain::net {

class name_lookup {
 public:
  explicit name_lookup(endpoint of) : of_{std::move(of)} {}
  name_lookup(name_lookup const&) = delete;
  name_lookup& operator=(name_lookup const&) = delete;

  // The addresses to connect to, best first; once. Numeric addresses need no thread. `self` is
  // this. UNAVAILABLE: the name cannot be resolved. CANCELLED: it was abandoned.
  static asio::awaitable<result<std::vector<socket_address>>> run(
      std::shared_ptr<name_lookup> self);

  // Abandons the lookup.
  void abandon() noexcept;

 private:
  class threads;
  class service;

  endpoint const of_;
  gate answered_;
  std::optional<result<std::vector<socket_address>>> answer_;  // before the gate opens
  std::atomic<bool> is_wanted_{true};
};

}  // namespace coxswain::net
