#pragma once
// The implementation of blocking_client and of the Python package: a client with a loop of its own,
// and how threads use it. Not here: the calls (blocking_client), which thread runs the loop
// (net/shared_loop).

#include "coxswain/client/agent/claim.hpp"
#include "coxswain/client/asking.hpp"
#include "coxswain/client/blocking_client.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/shared_loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace coxswain::detail {

// What the client's thread is to run, once.
class posted_work {
 public:
  template <class Function>
  requires(!std::same_as<Function, posted_work>) posted_work(Function function)
      : function_{std::make_unique<held<Function>>(std::move(function))} {}

  void operator()() { function_->run(); }

 private:
  struct holder {
    virtual ~holder() = default;
    virtual void run() = 0;
  };

  template <class Function>
  struct held final : holder {
    explicit held(Function given) : function{std::move(given)} {}
    void run() override { function(); }

    Function function;
  };

  std::unique_ptr<holder> function_;
};

// Completes a promise with a call's outcome, and makes the call cancellable.
template <class T>
class fulfil {
 public:
  using cancellation_slot_type = asio::cancellation_slot;

  fulfil(std::shared_ptr<std::promise<T>> p, asio::cancellation_slot by)
      : promise_{std::move(p)}, slot_{by} {}

  [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

  template <class... Value>
  void operator()(std::exception_ptr failure, Value... value) const {
    if (failure) {
      promise_->set_exception(failure);
    } else {
      promise_->set_value(std::move(value)...);
    }
  }

 private:
  std::shared_ptr<std::promise<T>> promise_;
  asio::cancellation_slot slot_;
};

struct client_facts {
  std::uint32_t num_tasks{};
  coxswain::role role{};
  coxswain::incarnation self{};
};

// The longest time that standard clocks can wait for without overflow.
constexpr duration wait_max = std::chrono::hours{24 * 365};

// The client and the loop in which it runs. "The client's thread" is the one that runs the loop at
// the moment.
class client_worker {
 public:
  client_worker() = default;
  ~client_worker() {
    close();
    join();
  }
  client_worker(client_worker const&) = delete;
  client_worker& operator=(client_worker const&) = delete;

  // Runs the coroutine that `start` returns on the client's thread, and calls done(failure,
  // value...) there. Its cancellation slot is used on that thread only. Throws FAILED_PRECONDITION
  // (after fork, or on that thread) and CANCELLED (closed), without calling `done`. `by`: the
  // calling thread, if it will run the loop.
  template <class Start, class Done>
  void spawn(Start start, Done done, net::shared_loop::caller const* by = nullptr) {
    refuse_here();
    using value = result_of_call<std::invoke_result_t<Start&, client&>>;
    auto begin = [this, start = std::move(start), done = std::move(done)]() mutable {
      try {
        detail::begin<value>(executor(), start(client_), completion<value>{done});
      } catch (...) {
        done.fail(std::current_exception());
      }
    };
    post(std::move(begin), by);
  }

  // Runs the coroutine that `start` returns on the client's thread; stops_[stop] cancels it.
  template <class Start>
  auto begin(Start start, std::optional<std::uint64_t> stop) {
    using value = result_of_call<std::invoke_result_t<Start&, client&>>;
    return begin<value>([this, start = std::move(start)]() mutable { return start(client_); },
                        stop);
  }

  // Begins a call on the client's thread, and waits for it. Errors of `spawn`, and of the call.
  template <class T>
  T run(call<T> what) {
    return wait<T>(std::move(what));
  }
  template <class T>
  T run(asio::awaitable<T> steps) {
    return wait<T>(std::move(steps));
  }

  // Runs the coroutine that `start` returns on the client's thread, and waits for it.
  template <class Start>
  auto ask(Start start) {
    return begin(std::move(start), std::nullopt).get();
  }

  // The same, but cancels it after `limit`; it throws operation_aborted then.
  template <class Start>
  auto ask_within(duration limit, Start start) {
    auto const number = next_stop();
    auto answer = begin(std::move(start), number);
    if (answer.wait_for(std::min(limit, wait_max)) == std::future_status::timeout) stop(number);
    answer.wait();
    forget_stop(number);
    return answer.get();
  }

  // Runs this on the client's thread, soon; false: the client is closed, and it never runs. `by`:
  // as in `spawn`.
  bool try_post(posted_work work, net::shared_loop::caller const* by = nullptr) {
    std::lock_guard const lock{mutex_};
    if (closed_) return false;
    if (by) {
      asio::post(loop_.context(), std::move(work));
    } else {
      loop_.post(std::move(work));
    }
    return true;
  }

  // Identifies a call that can be stopped, until it is forgotten.
  std::uint64_t next_stop() { return ++stops_count_; }
  void stop(std::uint64_t number) {
    try_post([this, number] { stops_[number].emit(asio::cancellation_type::terminal); });
  }
  void forget_stop(std::uint64_t number) {
    try_post([this, number] { stops_.erase(number); });
  }

  void connect(client_options options) {
    ask([this, &options](client&) { return open(std::move(options)); });
  }
  void connect_and_join(client_options options, join_options const& join) {
    if (options.spin > duration{}) loop_.keep();
    ask([&](client&) { return adopt(client_calls::connect_and_join(std::move(options), join)); });
  }
  asio::awaitable<void> open(client_options options) {
    if (options.spin > duration{}) loop_.keep();
    return adopt(client_calls::connect(std::move(options)));
  }
  asio::awaitable<void> adopt(asio::awaitable<client> opening) {
    auto opened = co_await std::move(opening);
    session_.facts.num_tasks = opened.num_tasks();
    session_.facts.role = opened.role();
    session_.facts.self = opened.incarnation();
    session_.calls = client_calls{connection_of(opened)};
    is_open_.store(true, std::memory_order_release);
    client_ = std::move(opened);
  }

  // Takes back what an answered call was handed, unless its claim is settled.
  void abandon(std::shared_ptr<claim const> of) {
    try_post([this, of = std::move(of)] {
      if (auto const& at = connection_of(client_)) at->abandon(*of);
    });
  }

  // How often this process knows the session to have been resumed.
  std::uint64_t reconnects() {
    if (forked()) return reconnects_;
    if (is_here()) return client_.reconnects();
    std::promise<void> seen;
    bool const posted = try_post([&] {
      reconnects_ = client_.reconnects();
      seen.set_value();
    });
    if (posted) seen.get_future().wait();
    return reconnects_;
  }

  void close() {
    {
      std::lock_guard const lock{mutex_};
      if (std::exchange(closed_, true)) return;
    }
    // Nothing is posted after this, so all waiting calls complete before the thread ends.
    auto const done = std::make_shared<std::promise<void>>();
    loop_.post([this, done] {
      reconnects_ = client_.reconnects();
      client_ = client{};
      loop_.release_work();
      done->set_value();
    });
    if (!is_here()) done->get_future().wait();
  }

  // Waits for the loop's thread to end, after `close`.
  void join() { loop_.join(); }

  [[nodiscard]] net::shared_loop& loop() noexcept { return loop_; }

  // Whether this is the client's thread: that of its callbacks.
  [[nodiscard]] bool is_here() const noexcept { return loop_.is_here(); }

  [[nodiscard]] bool forked() const noexcept { return ::getpid() != process_; }

  // Throws FAILED_PRECONDITION after fork, and on the client's thread.
  void refuse_here() const {
    if (forked()) throw error{status{errc::failed_precondition, "client used after fork"}};
    if (is_here()) {
      throw error{
          status{errc::failed_precondition,
                 "a callback called its own client, and the call would wait for ever for the "
                 "thread that runs the callback: call from another thread"}};
    }
  }

  // Also by other threads; empty before the client is connected.
  [[nodiscard]] client_facts const& facts() const noexcept { return session().facts; }
  [[nodiscard]] client_calls const& calls() const noexcept { return session().calls; }
  [[nodiscard]] std::optional<task_id> task() const noexcept {
    auto const& at = calls().at();
    return at ? at->task() : std::nullopt;
  }

 private:
  struct open_session {
    client_facts facts;
    client_calls calls;
  };

  [[nodiscard]] open_session const& session() const noexcept {
    static open_session const none;
    return is_open_.load(std::memory_order_acquire) ? session_ : none;
  }

  [[nodiscard]] asio::any_io_executor executor() { return loop_.context().get_executor(); }

  // Begins the call or coroutine that `start` returns.
  template <class T, class Start>
  std::future<T> begin(Start start, std::optional<std::uint64_t> stop,
                       net::shared_loop::caller const* by = nullptr) {
    refuse_here();
    auto const promise = std::make_shared<std::promise<T>>();
    auto answer = promise->get_future();
    auto begin_here = [this, stop, promise, start = std::move(start)]() mutable {
      try {
        asio::cancellation_slot slot;
        if (stop) slot = stops_[*stop].slot();
        detail::begin<T>(executor(), start(), completion<T>{fulfil<T>{promise, slot}});
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    };
    post(std::move(begin_here), by);
    return answer;
  }

  template <class T, class Call>
  T wait(Call what) {
    refuse_here();
    net::shared_loop::caller here{loop_};
    auto start = [what = std::move(what)]() mutable { return std::move(what); };
    auto answer = begin<T>(std::move(start), std::nullopt, &here);
    here.run([&] { return answer.wait_for(0s) == std::future_status::ready; }, without_limit);
    return answer.get();
  }

  void post(posted_work work, net::shared_loop::caller const* by = nullptr) {
    if (!try_post(std::move(work), by)) {
      throw error{status{errc::cancelled, "the client was closed"}};
    }
  }

  pid_t process_{::getpid()};
  open_session session_;  // constant once is_open_
  std::atomic<bool> is_open_{};
  std::atomic<std::uint64_t> reconnects_{};
  std::atomic<std::uint64_t> stops_count_{};
  std::map<std::uint64_t, asio::cancellation_signal> stops_;  // the thread's
  net::shared_loop loop_;
  client client_;
  std::mutex mutex_;
  bool closed_{};
};

}  // namespace coxswain::detail
