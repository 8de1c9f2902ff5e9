#pragma once
// Calls back when an io_context is about to be destroyed, while its services still exist, so that
// an object that lives longer can release its timers and descriptors: Asio's own must not outlive
// their context.
//
// Not thread-safe: the context must end on the thread that uses it.

#include "coxswain/net/asio.hpp"

#include <functional>

namespace coxswain::net {

class context_end {
 public:
  // `callback` is called at most once, and not after this object was destroyed.
  context_end(asio::io_context& context, std::function<void()> callback);
  ~context_end();
  context_end(context_end const&) = delete;
  context_end& operator=(context_end const&) = delete;

 private:
  class service;

  service* home_;  // null once the context has ended
  std::function<void()> callback_;
};

}  // namespace coxswain::net
