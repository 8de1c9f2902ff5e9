#pragma once
// Whether the caller of a call has its result. A reply is acknowledged as soon as it has arrived,
// and what it hands over, a lock or an item, is the client's then. With a claim it is acknowledged
// once the caller has the result: until then the call can be cancelled, and what was handed over
// returns to its place.

#include "coxswain/base/ids.hpp"

#include <atomic>

namespace coxswain::detail {

class claim {
 public:
  // The caller has the result. From any thread.
  void settle() noexcept { is_settled_ = true; }
  [[nodiscard]] bool is_settled() const noexcept { return is_settled_; }

  // The call; zero before it has begun. On the client's thread.
  request_id call{};

 private:
  std::atomic<bool> is_settled_{};
};

}  // namespace coxswain::detail
