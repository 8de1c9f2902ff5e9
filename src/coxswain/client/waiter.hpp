#pragma once
// The handler of a question. Not here: what it waits for (connection).

#include "coxswain/core/model/messages.hpp"

#include <boost/system/error_code.hpp>

#include <memory>

namespace coxswain::detail {

class waiter {
 public:
  waiter() = default;
  virtual ~waiter() = default;
  waiter(waiter const&) = delete;
  waiter& operator=(waiter const&) = delete;

  // Posts the completion. `self` is this.
  virtual void complete(std::unique_ptr<waiter> self, boost::system::error_code outcome,
                        core::answer what) = 0;
};

}  // namespace coxswain::detail
