#include "task_door.hpp"

#include "exit_code.hpp"

#include <fmt/format.h>
#include <boost/system/system_error.hpp>

#include <utility>

namespace coxswain::tools {
namespace {

using local = asio::local::stream_protocol;

// When there are no more descriptors.
constexpr duration accept_again_after = 100ms;

local::acceptor listen(asio::any_io_executor const& executor, std::string const& path) {
  try {
    return local::acceptor{executor, local::endpoint{path}};
  } catch (boost::system::system_error const& problem) {
    throw program_error{exit_code::failed, fmt::format("cannot listen on '{}' (below TMPDIR): {}",
                                                       path, problem.code().message())};
  }
}

}  // namespace

task_door::task_door(client const& task)
    : path_{folder_.path() + "/task"},
      task_{connection_of(task)},
      acceptor_{listen(task_->executor(), path_)} {}

asio::awaitable<void> task_door::serve(std::shared_ptr<task_door> self) {
  asio::steady_timer patience{self->task_->executor()};
  boost::system::error_code problem;
  while (self->acceptor_.is_open()) {
    auto socket =
        co_await self->acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, problem));
    if (!problem) {
      self->let_in(std::move(socket));
    } else if (problem != asio::error::operation_aborted) {
      patience.expires_after(accept_again_after);
      co_await patience.async_wait(asio::redirect_error(asio::use_awaitable, problem));
    }
  }
}

void task_door::let_in(local::socket socket) {
  std::erase_if(visitors_, [](auto const& one) { return one.expired(); });
  auto const newcomer = std::make_shared<visitor>(std::move(socket), task_);
  visitors_.push_back(newcomer);
  asio::co_spawn(task_->executor(), visitor::serve(newcomer), asio::detached);
}

void task_door::close(status const& why) {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  for (auto const& one : visitors_) {
    if (auto const still_there = one.lock()) still_there->part(why);
  }
}

}  // namespace coxswain::tools
