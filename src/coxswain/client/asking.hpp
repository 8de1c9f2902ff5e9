#pragma once
// How the public calls wait for replies. Not here: the calls (client_calls, client_keys,
// key_watch).

#include "coxswain/base/error.hpp"
#include "coxswain/client/client_calls.hpp"
#include "coxswain/client/connection.hpp"
#include "coxswain/client/initiation.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/net/asio.hpp"

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace coxswain::detail {

using connection_ptr = std::shared_ptr<connection>;

// FAILED_PRECONDITION: there is none.
void need_session(connection_ptr const& at);

// The reply, whatever its outcome. Throws UNAVAILABLE and the like.
asio::awaitable<core::answer> ask(connection_ptr at, question q);

void throw_unless_ok(core::answer const& a);

template <class Value>
Value& value_of(core::answer& a) {
  throw_unless_ok(a);
  if (auto* value = std::get_if<Value>(&a.value)) return *value;
  throw error{status{errc::internal, "the coordinator's answer does not fit the question"}};
}

// A completed call, on the way to its handler.
template <class T>
class ended_call {
 public:
  using executor_type = asio::any_completion_executor;
  using held = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  ended_call(completion<T> done, executor_type on, std::exception_ptr failure, held value)
      : done_{std::move(done)},
        on_{std::move(on)},
        failure_{std::move(failure)},
        value_{std::move(value)} {}

  [[nodiscard]] executor_type get_executor() const noexcept { return on_; }

  void operator()() {
    if constexpr (std::is_void_v<T>) {
      done_(std::move(failure_));
    } else {
      done_(std::move(failure_), std::move(value_));
    }
  }

 private:
  completion<T> done_;
  executor_type on_;
  std::exception_ptr failure_;
  held value_;
};

// Cancels a question when its caller cancels the call.
class cancellation {
 public:
  cancellation(connection_ptr const& from, connection::place where) : from_{from}, where_{where} {}

  void operator()(asio::cancellation_type) const {
    if (auto const still_there = from_.lock()) still_there->cancel(where_);
  }

 private:
  std::weak_ptr<connection> from_;
  connection::place where_;
};

// The exception of a call that its caller has cancelled; its code is operation_aborted.
[[nodiscard]] error cancelled_by_caller(boost::system::error_code code);

[[nodiscard]] std::exception_ptr failure_of(boost::system::error_code outcome,
                                            core::answer const& what);

// A call that consists of one question.
template <class T, class Reader = T (*)(core::answer&)>
class asked final : public operation<T>, public waiter {
 public:
  // `read` converts an answer whose outcome is OK, or any if `reads_failures`, to a result.
  asked(connection_ptr at, question q, Reader read, bool reads_failures)
      : at_{std::move(at)},
        question_{std::move(q)},
        read_{std::move(read)},
        reads_failures_{reads_failures} {}

  void claim_with(std::shared_ptr<claim> by) override { question_.claimed_by = std::move(by); }

  void begin(std::unique_ptr<operation<T>> self, completion<T> done) override {
    auto slot = asio::get_associated_cancellation_slot(done);
    on_ = asio::prefer(asio::get_associated_executor(done, at_->executor()),
                       asio::execution::outstanding_work.tracked);
    done_.swap(done);
    auto const at = at_;  // outlives this
    self.release();
    auto const where = at->ask(std::move(question_), std::unique_ptr<waiter>{this});
    if (slot.is_connected()) slot.template emplace<cancellation>(at, where);
  }

  void complete(boost::system::error_code outcome, core::answer what) override {
    std::exception_ptr failure;
    typename ended_call<T>::held value{};
    try {
      if (outcome || !(what.outcome.ok() || reads_failures_)) {
        failure = failure_of(outcome, what);
      } else if constexpr (std::is_void_v<T>) {
        read_(what);
      } else {
        value = read_(what);
      }
    } catch (...) {
      failure = std::current_exception();
    }
    asio::post(at_->executor(), ended_call<T>{std::move(done_), std::move(on_), std::move(failure),
                                              std::move(value)});
  }

 private:
  connection_ptr at_;
  question question_;
  Reader read_;
  bool reads_failures_;
  completion<T> done_;
  asio::any_completion_executor on_;
};

// For a reply that has only an outcome.
inline void nothing(core::answer&) {}

template <class T>
call<T> asking(connection_ptr const& at, question q, T (*read)(core::answer&),
               bool reads_failures = false) {
  need_session(at);
  return std::make_unique<asked<T>>(at, std::move(q), read, reads_failures);
}

// `read`, any function object, makes a result that needs more than the answer.
template <class T, class Reader>
call<T> asking_with(connection_ptr const& at, question q, Reader read) {
  need_session(at);
  return std::make_unique<asked<T, Reader>>(at, std::move(q), std::move(read), false);
}

}  // namespace coxswain::detail
