#include "coxswain/client/asking.hpp"

#include <utility>

namespace coxswain {
namespace {

// Takes a question back when its coroutine is cancelled.
class take_back {
 public:
  take_back(connection_ptr const& from, connection::place where) : from_{from}, where_{where} {}

  void operator()(asio::cancellation_type) const {
    if (auto const still_there = from_.lock()) still_there->cancel(where_);
  }

 private:
  std::weak_ptr<connection> from_;
  connection::place where_;
};

// What begins every wait. A named class, and no lambda: GCC 12, see tools/tidy.py.
class initiation {
 public:
  using executor_type = asio::any_io_executor;

  explicit initiation(connection_ptr at) : at_{std::move(at)} {}

  [[nodiscard]] executor_type get_executor() const noexcept { return at_->executor(); }

  template <class Handler>
  void operator()(Handler&& handler, question q) const {
    using handler_type = std::decay_t<Handler>;
    auto slot = asio::get_associated_cancellation_slot(handler);
    auto who = std::make_unique<waiting_handler<handler_type>>(std::forward<Handler>(handler),
                                                               at_->executor());
    auto const where = at_->ask(std::move(q), std::move(who));
    if (slot.is_connected()) slot.template emplace<take_back>(at_, where);
  }

 private:
  connection_ptr at_;
};

}  // namespace

void need_session(connection_ptr const& at) {
  if (at) return;
  throw error{
      status{errc::failed_precondition, "this client has no session: it was not connected"}};
}

asio::awaitable<core::answer> ask(connection_ptr at, question q) {
  need_session(at);
  using signature = void(boost::system::error_code, core::answer);
  return asio::async_initiate<asio::use_awaitable_t<> const, signature>(
      initiation{std::move(at)}, asio::use_awaitable, std::move(q));
}

void throw_unless_ok(core::answer const& a) {
  if (a.outcome.ok()) return;
  if (auto const* details = std::get_if<barrier_failure>(&a.value)) {
    throw error{a.outcome, *details};
  }
  throw error{a.outcome};
}

asio::awaitable<void> nothing(asio::awaitable<core::answer> pending) {
  auto const a = co_await std::move(pending);
  throw_unless_ok(a);
}

}  // namespace coxswain
