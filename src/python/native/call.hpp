#pragma once
// One open call: started by a Python thread, ended by the client's thread, which never waits for
// Python. Holds the result until a thread with the GIL takes it. Its end wakes the waiting thread
// (completion_event) or an event loop (mailbox).

#include "coxswain/net/asio.hpp"
#include "python/native/answers.hpp"
#include "python/native/completion_event.hpp"
#include "python/native/errors.hpp"
#include "python/native/mailbox.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace coxswain::python {

class call {
 public:
  call() = default;
  call(std::shared_ptr<mailbox> to, std::uint64_t number) : to_{std::move(to)}, number_{number} {}
  virtual ~call() = default;
  call(call const&) = delete;
  call& operator=(call const&) = delete;

  // With the GIL, after it has ended. Throws the call's error.
  virtual py::object result() = 0;

  // On the client's thread.
  void cancel() { stop_.emit(asio::cancellation_type::terminal); }
  [[nodiscard]] asio::cancellation_slot stop() { return stop_.slot(); }

  // Rings when it has ended, unless an event loop is notified.
  python::completion_event& completion_event() { return completion_; }

 protected:
  static void ended(std::shared_ptr<call> self) {
    if (auto const to = std::move(self->to_)) {
      auto const number = self->number_;
      to->put(number, std::move(self));
    } else {
      self->completion_.notify();
    }
  }

 private:
  std::shared_ptr<mailbox> to_;
  std::uint64_t number_{};
  asio::cancellation_signal stop_;
  python::completion_event completion_;
};

template <class Value>
class call_for : public call {
 public:
  using call::call;
  using held = std::conditional_t<std::is_void_v<Value>, std::monostate, Value>;

  // The completion handler of asio::co_spawn.
  class handler {
   public:
    using cancellation_slot_type = asio::cancellation_slot;

    explicit handler(std::shared_ptr<call_for> of) : of_{std::move(of)} {}

    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const { return of_->stop(); }

    template <class... Given>
    void operator()(std::exception_ptr failure, Given... value) const {
      if (failure) return fail(failure);
      of_->value_.emplace(std::move(value)...);
      ended(of_);
    }
    void fail(std::exception_ptr failure) const {
      of_->failure_ = std::move(failure);
      ended(of_);
    }

   private:
    std::shared_ptr<call_for> of_;
  };

  py::object result() override {
    if (failure_) std::rethrow_exception(failure_);
    if constexpr (std::is_void_v<Value>) {
      return py::none();
    } else {
      return given(*value_);
    }
  }

 private:
  std::optional<held> value_;
  std::exception_ptr failure_;
};

}  // namespace coxswain::python
