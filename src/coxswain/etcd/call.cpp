#include "coxswain/etcd/call.hpp"

#include <utility>

namespace coxswain::etcd {

call::~call() {
  if (over_ && !end_) over_->cancel(number_);
}

void call::start(std::shared_ptr<channel> over, call_request const& how, std::string message) {
  over_ = std::move(over);
  number_ = over_->start(how, std::move(message), weak_from_this());
}

void call::send(std::string message) {
  if (!end_) over_->send(number_, std::move(message));
}

void call::cancel() {
  if (end_) return;
  if (over_) over_->cancel(number_);
  ended({{errc::cancelled, "the call was cancelled"}});
}

asio::awaitable<bool> call::wait(std::shared_ptr<call> self, time_point deadline) {
  if (!self->messages_.empty() || self->end_) co_return true;
  self->wakes_.expires_at(deadline);
  boost::system::error_code ignored;
  co_await self->wakes_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  co_return !self->messages_.empty() || self->end_;
}

std::optional<std::string> call::take() {
  if (messages_.empty()) return std::nullopt;
  auto first = std::move(messages_.front());
  messages_.pop_front();
  return first;
}

void call::message(std::string content) {
  messages_.push_back(std::move(content));
  wakes_.cancel();
}

void call::ended(call_end how) {
  end_ = std::move(how);
  wakes_.cancel();
}

}  // namespace coxswain::etcd
