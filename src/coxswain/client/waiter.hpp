#pragma once
// The handler of a question. Not here: what it waits for (connection).

#include "coxswain/core/model/messages.hpp"

#include <boost/system/error_code.hpp>

namespace coxswain::detail {

class waiter {
 public:
  waiter() = default;
  virtual ~waiter() = default;
  waiter(waiter const&) = delete;
  waiter& operator=(waiter const&) = delete;

  // Posts the completion. Once.
  virtual void complete(boost::system::error_code outcome, core::answer what) = 0;
};

}  // namespace coxswain::detail
