#pragma once
// How the public calls take completion tokens. Each is an initiating function; its body stays in
// the library, behind a type-erased completion handler. Not here: the calls (client_calls), how
// their replies are waited for (asking).

#include "coxswain/base/error.hpp"
#include "coxswain/net/asio_calls.hpp"

#include <concepts>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace coxswain {

// The default completion token of calls: returns an asio::awaitable<T> that throws coxswain::error
// with message and details.
struct use_coroutine_t {
  constexpr use_coroutine_t() = default;
};
inline constexpr use_coroutine_t use_coroutine;

namespace detail {

class claim;

template <class T>
struct signatures {
  using of_user = void(boost::system::error_code, T);
  using inside = void(std::exception_ptr, T);
};
template <>
struct signatures<void> {
  using of_user = void(boost::system::error_code);
  using inside = void(std::exception_ptr);
};

template <class... T>
struct result_of {
  using type = void;
};
template <class T>
struct result_of<T> {
  using type = T;
};

template <class T>
using completion = asio::any_completion_handler<typename signatures<T>::inside>;

// A call that has not begun.
template <class T>
class operation {
 public:
  operation() = default;
  virtual ~operation() = default;
  operation(operation const&) = delete;
  operation& operator=(operation const&) = delete;

  // Before it begins: its reply is acknowledged when the claim is settled.
  virtual void claim_with(std::shared_ptr<claim>) {}

  // Starts it, once; `self` is this. `done` runs on its associated executor, or the client's, and
  // never within this function.
  virtual void begin(std::unique_ptr<operation> self, completion<T> done) = 0;
};

template <class T>
using call = std::unique_ptr<operation<T>>;

template <class T>
void begin(asio::any_io_executor const&, call<T> what, completion<T> done) {
  auto& it = *what;
  it.begin(std::move(what), std::move(done));
}

template <class Call>
struct call_traits;
template <class T>
struct call_traits<call<T>> {
  using result = T;
};
template <class T>
struct call_traits<asio::awaitable<T>> {
  using result = T;
};
template <class Call>
using result_of_call = typename call_traits<Call>::result;

// A call that takes several steps is a coroutine.
template <class T>
void begin(asio::any_io_executor const& on, asio::awaitable<T> steps, completion<T> done);

// The code of a failure, if there is one. Its message and details go to `into`, unless null.
boost::system::error_code code_of(std::exception_ptr const& failure, diagnostics* into);

// The type-erased handler of the user.
template <class Handler>
class translating {
 public:
  translating(Handler handler, diagnostics* details)
      : handler_{std::move(handler)}, details_{details} {}

  template <class... Value>
  void operator()(std::exception_ptr const& failure, Value&&... value) {
    auto const code = code_of(failure, details_);
    std::move(handler_)(code, std::forward<Value>(value)...);
  }

  [[nodiscard]] Handler const& handler() const noexcept { return handler_; }

 private:
  Handler handler_;
  diagnostics* details_;
};

// The handler of a coroutine, which wants the exception.
struct throwing_initiation {
  asio::any_io_executor on;

  template <class Handler, class T>
  void operator()(Handler&& handler, call<T> what) const {
    begin<T>(on, std::move(what), completion<T>{std::forward<Handler>(handler)});
  }
};

// Starts a call with the user's handler. A named class: GCC 12 miscompiles lambdas with captures in
// a statement with co_await.
class initiation {
 public:
  using executor_type = asio::any_io_executor;

  explicit initiation(executor_type on, diagnostics* details = nullptr)
      : on_{std::move(on)}, details_{details} {}

  void report_to(diagnostics& details) noexcept { details_ = &details; }

  [[nodiscard]] executor_type get_executor() const noexcept { return on_; }

  template <class Handler, class T>
  void operator()(Handler&& handler, call<T> what) const {
    begin<T>(on_, std::move(what), translated<T>(std::forward<Handler>(handler)));
  }
  template <class Handler, class T>
  void operator()(Handler&& handler, asio::awaitable<T> steps) const {
    begin<T>(on_, std::move(steps), translated<T>(std::forward<Handler>(handler)));
  }

  template <class T>
  [[nodiscard]] asio::awaitable<T> awaited(call<T> what) const {
    using signature = typename signatures<T>::inside;
    return asio::async_initiate<asio::use_awaitable_t<> const, signature>(
        throwing_initiation{on_}, asio::use_awaitable, std::move(what));
  }
  template <class T>
  [[nodiscard]] asio::awaitable<T> awaited(asio::awaitable<T> steps) const {
    return steps;
  }

 private:
  template <class T, class Handler>
  [[nodiscard]] completion<T> translated(Handler&& handler) const {
    return translating<std::decay_t<Handler>>{std::forward<Handler>(handler), details_};
  }

  executor_type on_;
  diagnostics* details_;
};

// Starts to connect on the executor of the user's handler, which becomes the client's.
class connect_initiation {
 public:
  void report_to(diagnostics& details) noexcept { details_ = &details; }

  template <class Handler, class T>
  void operator()(Handler&& handler, asio::awaitable<T> steps) const {
    using executor = asio::associated_executor_t<std::decay_t<Handler>>;
    static_assert(!std::is_same_v<executor, asio::system_executor>,
                  "a client needs an executor: pass it to connect, or a token that has one");
    initiation const with{asio::get_associated_executor(handler), details_};
    with(std::forward<Handler>(handler), std::move(steps));
  }

  template <class T>
  [[nodiscard]] asio::awaitable<T> awaited(asio::awaitable<T> steps) const {
    return steps;
  }

 private:
  diagnostics* details_{};
};

// What may follow the arguments of a call: a completion token, or diagnostics and a token.
template <class Token, class T>
concept token_for = std::same_as<Token, diagnostics&> ||
    asio::completion_token_for<Token, typename signatures<T>::of_user>;

template <class Initiation, class Call>
auto initiate(Initiation const& begin, Call what) {
  return begin.awaited(std::move(what));
}
template <class Initiation, class Call, class Token>
auto initiate(Initiation const& begin, Call what, Token&& token) {
  using signature = typename signatures<result_of_call<Call>>::of_user;
  return asio::async_initiate<Token, signature>(begin, token, std::move(what));
}
template <class Initiation, class Call, class Token>
auto initiate(Initiation begin, Call what, diagnostics& details, Token&& token) {
  begin.report_to(details);
  return initiate(std::as_const(begin), std::move(what), std::forward<Token>(token));
}

}  // namespace detail
}  // namespace coxswain

namespace boost::asio {

template <class Result, class... Value>
class async_result<coxswain::use_coroutine_t, Result(boost::system::error_code, Value...)> {
 public:
  using return_type = awaitable<typename coxswain::detail::result_of<Value...>::type>;

  template <class Initiation, class... Call>
  static return_type initiate(Initiation const& begin, coxswain::use_coroutine_t, Call... what) {
    return begin.awaited(std::move(what)...);
  }
};

// The executor, allocator and cancellation slot of the user's handler.
template <template <class, class> class Associator, class Handler, class Default>
struct associator<Associator, coxswain::detail::translating<Handler>, Default> {
  using type = typename Associator<Handler, Default>::type;

  static type get(coxswain::detail::translating<Handler> const& of,
                  Default const& otherwise = Default()) noexcept {
    return Associator<Handler, Default>::get(of.handler(), otherwise);
  }
};

}  // namespace boost::asio
