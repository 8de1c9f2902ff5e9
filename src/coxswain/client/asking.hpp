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
class ended_call {
 public:
  ended_call() = default;
  virtual ~ended_call() = default;
  ended_call(ended_call const&) = delete;
  ended_call& operator=(ended_call const&) = delete;

  // Calls the handler; frees `self`, which is this, before.
  virtual void deliver(std::unique_ptr<ended_call> self, std::exception_ptr failure) = 0;
};

// Delivers it soon on `on`, posted by `by`.
void post_ended(asio::any_io_executor const& by, std::unique_ptr<ended_call> ended,
                asio::any_completion_executor on, std::exception_ptr failure);

// The result of a call, and its handler.
template <class T>
struct awaited_result {
  using held = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  completion<T> done;
  held value{};

  void deliver(std::unique_ptr<ended_call> self, std::exception_ptr failure) {
    auto handler = std::move(done);
    held result = std::move(value);
    self.reset();
    if constexpr (std::is_void_v<T>) {
      std::move(handler)(std::move(failure));
    } else {
      std::move(handler)(std::move(failure), std::move(result));
    }
  }
};

// The exception of a call that its caller has cancelled; its code is operation_aborted.
[[nodiscard]] error cancelled_by_caller(boost::system::error_code code);

[[nodiscard]] std::exception_ptr failure_of(boost::system::error_code outcome,
                                            core::answer const& what);

// A call that consists of one question, but for the type of its result.
class asked_question : public waiter, public ended_call {
 public:
  void complete(std::unique_ptr<waiter> self, boost::system::error_code outcome,
                core::answer what) final;

 protected:
  asked_question(connection_ptr at, question q, bool reads_failures)
      : at_{std::move(at)}, question_{std::move(q)}, reads_failures_{reads_failures} {}

  // Keeps what the answer gives: one whose outcome is OK, or any if `reads_failures`.
  virtual void keep(core::answer& what) = 0;

  void ask(std::unique_ptr<waiter> self, asio::any_completion_executor on,
           asio::cancellation_slot slot);

  void claim_question(std::shared_ptr<claim> by) { question_.claimed_by = std::move(by); }
  [[nodiscard]] asio::any_io_executor executor() const { return at_->executor(); }

 private:
  connection_ptr at_;
  question question_;
  bool reads_failures_;
  asio::any_completion_executor on_;
};

template <class T, class Reader = T (*)(core::answer&)>
class asked final : public operation<T>, public asked_question {
 public:
  // `read` converts an answer to a result.
  asked(connection_ptr at, question q, Reader read, bool reads_failures)
      : asked_question{std::move(at), std::move(q), reads_failures}, read_{std::move(read)} {}

  void claim_with(std::shared_ptr<claim> by) override { claim_question(std::move(by)); }

  void begin(std::unique_ptr<operation<T>> self, completion<T> done) override {
    auto const slot = asio::get_associated_cancellation_slot(done);
    auto on = asio::get_associated_executor(done, executor());
    result_.done.swap(done);
    self.release();
    ask(std::unique_ptr<waiter>{this}, std::move(on), slot);
  }

  void deliver(std::unique_ptr<ended_call> self, std::exception_ptr failure) override {
    result_.deliver(std::move(self), std::move(failure));
  }

 private:
  void keep(core::answer& what) override {
    if constexpr (std::is_void_v<T>) {
      read_(what);
    } else {
      result_.value = read_(what);
    }
  }

  Reader read_;
  awaited_result<T> result_;
};

// A call that takes several steps.
template <class T>
class stepped final : public ended_call {
 public:
  explicit stepped(completion<T> done) { result_.done.swap(done); }

  void deliver(std::unique_ptr<ended_call> self, std::exception_ptr failure) override {
    result_.deliver(std::move(self), std::move(failure));
  }

  // Outlived by this.
  asio::awaitable<void> keep(asio::awaitable<T> steps) {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(steps);
    } else {
      T value = co_await std::move(steps);
      result_.value = std::move(value);
    }
  }

 private:
  awaited_result<T> result_;
};

// Delivers `ended` on `on` when the steps are done. Every kind of cancellation by the slot cancels
// them.
void spawn_steps(asio::any_io_executor const& by, asio::awaitable<void> steps,
                 std::unique_ptr<ended_call> ended, asio::any_completion_executor on,
                 asio::cancellation_slot slot);

template <class T>
void begin(asio::any_io_executor const& by, asio::awaitable<T> steps, completion<T> done) {
  if (!by) need_session(nullptr);
  auto const slot = asio::get_associated_cancellation_slot(done);
  auto on = asio::get_associated_executor(done, by);
  auto ended = std::make_unique<stepped<T>>(std::move(done));
  auto kept = ended->keep(std::move(steps));
  spawn_steps(by, std::move(kept), std::move(ended), std::move(on), slot);
}

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
