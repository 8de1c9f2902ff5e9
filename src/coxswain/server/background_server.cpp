#include "coxswain/server/background_server.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/server/server.hpp"

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <future>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace coxswain::server {
namespace {

// A thread inherits the mask of the one that makes it. Signals belong to the program's own threads.
class without_signals {
 public:
  without_signals() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~without_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  without_signals(without_signals const&) = delete;
  without_signals& operator=(without_signals const&) = delete;

 private:
  sigset_t before_{};
};

std::thread new_thread(asio::io_context& io) {
  without_signals const meanwhile;
  try {
    return std::thread{[&io] { io.run(); }};
  } catch (std::system_error const& e) {
    throw error{
        {errc::resource_exhausted, std::string{"No thread for the coordinator: "} + e.what()}};
  }
}

}  // namespace

class background_server::impl {
 public:
  explicit impl(options o)
      : server_{io_, std::move(o)},
        stopped_{spawn(server_.run())},
        done_{spawn(server_.job_done())},
        work_{io_.get_executor()},
        thread_{new_thread(io_)} {}

  ~impl() {
    stop("the coordinator's program ends");
    work_.reset();
    thread_.join();
  }

  // Runs on the server's thread; its result or exception is passed on.
  template <class Work>
  auto run(Work work) -> std::invoke_result_t<Work, server&> {
    if (is_own_thread()) return work(server_);
    std::packaged_task<std::invoke_result_t<Work, server&>()> task{[&] { return work(server_); }};
    auto outcome = task.get_future();
    asio::post(io_,
               [task = std::move(task)]() mutable { task(); });  // Asio takes a task for a token
    return outcome.get();
  }

  // Returns when it serves; throws what prevented it.
  void wait_started() {
    run([](server&) {});  // comes after the beginning of server::run
    if (stopped_.wait_for(0s) == std::future_status::ready) stopped_.get();
  }

  void stop(std::string reason) {
    run([&](server& s) { s.stop(std::move(reason)); });
    if (!is_own_thread()) stopped_.wait();
  }

  void run_beside(beside const& work) {
    run([&](server& s) { work(io_, s); });
  }

  void wait_done() const { done_.wait(); }

  [[nodiscard]] std::vector<std::string> const& addresses() const { return server_.addresses(); }

 private:
  [[nodiscard]] bool is_own_thread() const noexcept {
    return std::this_thread::get_id() == thread_.get_id();
  }

  // Ready when the coroutine has ended.
  std::shared_future<void> spawn(asio::awaitable<void> what) {
    std::promise<void> ended;
    auto future = ended.get_future().share();
    co_spawn(io_, std::move(what), [ended = std::move(ended)](std::exception_ptr failure) mutable {
      if (failure) {
        ended.set_exception(failure);
      } else {
        ended.set_value();
      }
    });
    return future;
  }

  asio::io_context io_{1};
  server server_;
  std::shared_future<void> stopped_;
  std::shared_future<void> done_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

background_server::background_server(options o) : impl_{std::make_unique<impl>(std::move(o))} {
  impl_->wait_started();
}

background_server::~background_server() = default;

std::vector<std::string> const& background_server::addresses() const { return impl_->addresses(); }

void background_server::run(beside const& work) const { impl_->run_beside(work); }

void background_server::stop(std::string reason) { impl_->stop(std::move(reason)); }

void background_server::wait_done() { impl_->wait_done(); }

}  // namespace coxswain::server
