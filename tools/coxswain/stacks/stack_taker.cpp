#include "stacks/stack_taker.hpp"

#include "child/child_process.hpp"
#include "child/supervisor.hpp"
#include "options/exit_code.hpp"
#include "stacks/process_stack.hpp"

#include <fmt/format.h>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

namespace coxswain::tools {
namespace {

constexpr std::size_t at_once_max = 4;
// The coordinator waits for 10 s.
constexpr duration taken_within = 9s;
constexpr std::size_t printed_bytes_max = 64 * 1024;

core::report_stack_args report_of(std::uint64_t number, task_id task, std::string stack,
                                  std::string rest) {
  core::report_stack_args made;
  made.number = number;
  made.task = task;
  made.stack = std::move(stack);
  made.rest = std::move(rest);
  return made;
}

}  // namespace

struct stack_taker::state {
  state(asio::any_io_executor by, std::string directory, reporter to)
      : executor{std::move(by)}, beside{std::move(directory)}, report{std::move(to)} {}

  asio::any_io_executor executor;
  std::string beside;
  reporter report;
  std::optional<supervisor> guard;  // since the first process
  std::uint64_t number{};
  time_point until{};
  std::deque<process> queue;
  std::array<bool, at_once_max> works{};
  bool is_closed{};
};

stack_taker::stack_taker(asio::any_io_executor executor, std::string beside, reporter report)
    : state_{std::make_shared<state>(std::move(executor), std::move(beside), std::move(report))} {}

stack_taker::~stack_taker() {
  state_->is_closed = true;
  state_->queue.clear();
}

void stack_taker::take(std::uint64_t number, std::vector<process> processes) {
  state_->number = number;
  state_->until = std::chrono::steady_clock::now() + taken_within;
  state_->queue.assign(std::make_move_iterator(processes.begin()),
                       std::make_move_iterator(processes.end()));
  for (std::size_t slot = 0; slot < std::min(at_once_max, state_->queue.size()); ++slot) {
    if (std::exchange(state_->works[slot], true)) continue;
    asio::co_spawn(state_->executor, work(state_, slot), asio::detached);
  }
}

asio::awaitable<void> stack_taker::work(std::shared_ptr<state> self, std::size_t slot) {
  co_await asio::post(self->executor, asio::use_awaitable);  // not from within its owner's call
  while (!self->queue.empty() && !self->is_closed) {
    process const next = std::move(self->queue.front());
    self->queue.pop_front();
    auto const number = self->number;
    process_stack taken;
    taken.rest = next.why_not;
    if (next.root > 0) {
      auto const text = co_await read(self, slot, next);
      taken = parse_printed(text);
    }
    if (self->is_closed) break;
    self->report(report_of(number, next.task, std::move(taken.main), std::move(taken.rest)));
  }
  self->works[slot] = false;
}

// As `coxswain stack` prints it; or an empty line, and why there is nothing.
asio::awaitable<std::string> stack_taker::read(std::shared_ptr<state> self, std::size_t slot,
                                               process const& of) {
  if (std::chrono::steady_clock::now() >= self->until) {
    co_return fmt::format("\nthe stacks of other processes took {} s", taken_within / 1s);
  }
  std::optional<child_process> child;
  std::string text;
  try {
    if (!self->guard) self->guard.emplace(at_once_max);
    child_command command;
    command.arguments = {"/proc/self/exe", "stack", std::to_string(of.root)};
    if (!of.client.empty()) command.arguments.push_back("--client=" + of.client);
    if (!self->beside.empty()) command.arguments.push_back("--beside=" + self->beside);
    child.emplace(command, self->guard->of(slot));
  } catch (program_error const& problem) {
    text = std::string{"\n"} + problem.what();
  }
  if (!child) co_return text;
  auto const from = std::make_shared<asio::posix::stream_descriptor>(
      self->executor, child->take_output().release());
  asio::steady_timer limit{self->executor, self->until};
  auto stop = [from](boost::system::error_code problem) {
    boost::system::error_code ignored;
    if (!problem) from->close(ignored);
  };
  limit.async_wait(std::move(stop));
  std::array<char, 4096> buffer;
  for (;;) {
    boost::system::error_code problem;
    auto const count = co_await from->async_read_some(
        asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, problem));
    text.append(buffer.data(), count);
    if (problem || text.size() > printed_bytes_max) break;
  }
  limit.cancel();
  if (text.empty()) text = "\nits stack could not be read in time";
  co_return text;
}

std::string directory_of_program(std::vector<std::string> const& command) {
  if (command.empty()) return {};
  auto const end = command.front().rfind('/');
  return end == std::string::npos ? std::string{} : command.front().substr(0, end);
}

}  // namespace coxswain::tools
