#pragma once
// Somebody who waits for an answer: a completion handler of any type, with its executor. Not here:
// what is waited for (connection).

#include "coxswain/core/model/messages.hpp"
#include "coxswain/net/asio.hpp"

#include <boost/system/error_code.hpp>

#include <utility>

namespace coxswain {

class waiter {
 public:
  waiter() = default;
  virtual ~waiter() = default;
  waiter(waiter const&) = delete;
  waiter& operator=(waiter const&) = delete;

  // Posts the completion to the handler's executor. Once.
  virtual void complete(boost::system::error_code outcome, core::answer what) = 0;
};

template <class Handler>
class waiting_handler final : public waiter {
 public:
  // `fallback` is used by a handler that has no executor.
  waiting_handler(Handler handler, asio::any_io_executor const& fallback)
      : handler_{std::move(handler)},
        work_{asio::make_work_guard(asio::get_associated_executor(handler_, fallback))} {}

  void complete(boost::system::error_code outcome, core::answer what) override {
    asio::post(work_.get_executor(), completion{std::move(handler_), outcome, std::move(what)});
    work_.reset();
  }

 private:
  using executor_type = asio::associated_executor_t<Handler, asio::any_io_executor>;

  struct completion {
    completion(Handler h, boost::system::error_code o, core::answer w)
        : handler{std::move(h)}, outcome{o}, what{std::move(w)} {}

    void operator()() { std::move(handler)(outcome, std::move(what)); }

    Handler handler;
    boost::system::error_code outcome;
    core::answer what;
  };

  Handler handler_;
  asio::executor_work_guard<executor_type> work_;
};

}  // namespace coxswain
