#pragma once
// A lock or an item on its way from the coordinator to Python's caller. It is the caller's once
// this object is gone; if an exception comes between, as of a signal handler, or the awaiting task
// is cancelled, session::give_back returns it.

#include "coxswain/client/agent/claim.hpp"

#include <memory>
#include <utility>

namespace coxswain::python {

class grant {
 public:
  grant() = default;
  ~grant() {
    if (claim_) claim_->settle();
  }
  grant(grant const&) = delete;
  grant& operator=(grant const&) = delete;

  [[nodiscard]] std::shared_ptr<detail::claim> const& claim() const noexcept { return claim_; }
  // Null: it was given back before.
  [[nodiscard]] std::shared_ptr<detail::claim> give_back() noexcept {
    return std::exchange(claim_, nullptr);
  }

 private:
  std::shared_ptr<detail::claim> claim_{std::make_shared<detail::claim>()};
};

}  // namespace coxswain::python
