#include "real_clients.hpp"

#include "bench_error.hpp"
#include "machine.hpp"

#include "coxswain/client/client.hpp"
#include "coxswain/net/asio.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace coxswain::bench {
namespace {

constexpr char const* subcommand = "client-process";

// Where a child process of the benchmark finds its channel.
constexpr int channel_fd = 3;

// Of one round of one task; the clock is the same in all processes.
struct moments {
  time_point called;
  time_point returned;
};

[[noreturn]] void become_client(std::string const& server, std::uint32_t task) {
  ::fcntl(channel_fd, F_SETFD, 0);
  auto const number = std::to_string(task);
  ::execl("/proc/self/exe", "coxswain-bench", subcommand, "--address", server.c_str(), "--task",
          number.c_str(), nullptr);
  throw system_failure("cannot start this program again");
}

asio::awaitable<void> do_rounds(client& of, channel& control, std::uint64_t rounds) {
  std::string took;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    moments m;
    m.called = std::chrono::steady_clock::now();
    co_await of.barrier("step");
    m.returned = std::chrono::steady_clock::now();
    append_raw(took, m);
  }
  control.send(message_kind::tally, took);
}

asio::awaitable<void> take_part(client_options how, channel& control) {
  auto const executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor commands{executor, ::dup(control.fd())};
  client self = co_await client::connect(std::move(how));
  control.send(message_kind::progress);
  co_await self.join();
  control.send(message_kind::done);
  for (;;) {
    co_await commands.async_wait(asio::posix::descriptor_base::wait_read, asio::use_awaitable);
    auto const command = control.receive();
    if (!command) co_return;
    if (command->kind == message_kind::finish) break;
    co_await do_rounds(self, control, number_of(*command));
  }
  co_await self.leave();
  control.send(message_kind::done);
}

}  // namespace

void real_clients::connect(std::function<void(std::uint64_t)> const& progress) {
  for (std::uint32_t task = 0; task < tasks_; ++task) {
    all_.push_back(std::make_unique<child_process>(
        fmt::format("the client process of task {}", task), std::nullopt,
        [this, task](channel&) { become_client(server_, task); }));
    (void)all_.back()->receive();
    progress(task + 1);
  }
  for (auto const& one : all_) (void)one->receive();
}

tally real_clients::measure(std::uint64_t steps) {
  tally found;
  found.latencies.resize(2);
  found.operations = steps * tasks_;
  auto const cpu_before = cpu_time();
  auto const begun = std::chrono::steady_clock::now();
  for (auto const& one : all_) one->send_number(message_kind::steps, steps);
  std::vector<moments> first(steps, {time_point::max(), time_point::max()});
  std::vector<moments> last(steps);
  for (auto const& one : all_) {
    auto const answer = one->receive();
    std::string_view took{answer.payload};
    for (std::uint64_t round = 0; round < steps; ++round) {
      auto const m = take_raw<moments>(took);
      first[round].called = std::min(first[round].called, m.called);
      last[round].called = std::max(last[round].called, m.called);
      last[round].returned = std::max(last[round].returned, m.returned);
    }
  }
  found.elapsed = std::chrono::steady_clock::now() - begun;
  found.busy = cpu_time() - cpu_before;
  for (std::uint64_t round = 0; round < steps; ++round) {
    found.latencies[0].add((last[round].returned - last[round].called).count());
    found.latencies[1].add((last[round].returned - first[round].called).count());
  }
  return found;
}

void real_clients::finish() {
  for (auto const& one : all_) one->send(message_kind::finish);
  for (auto const& one : all_) (void)one->receive();
  for (auto const& one : all_) one->await_end();
}

std::vector<pid_t> real_clients::processes() const {
  std::vector<pid_t> pids;
  for (auto const& one : all_) pids.push_back(one->pid());
  return pids;
}

duration real_clients::cpu_time() const {
  duration sum = cpu_time_of(::getpid());
  for (auto const& one : all_) sum += cpu_time_of(one->pid());
  return sum;
}

CLI::App* client_process::add_to(CLI::App& program) {
  auto& cmd = *program.add_subcommand(subcommand, "One of the processes that 'check' starts");
  cmd.group("");
  cmd.add_option("--address", server_, "The coordinator")->required();
  cmd.add_option("--task", task_, "The task")->required();
  return &cmd;
}

void client_process::run() const {
  channel control{net::descriptor{channel_fd}};
  try {
    client_options how{server_, task_id{task_}};
    std::exception_ptr problem;
    asio::io_context io{1};
    auto const ended = [&problem](std::exception_ptr why) { problem = std::move(why); };
    asio::co_spawn(io, take_part(std::move(how), control), ended);
    io.run();
    if (problem) std::rethrow_exception(problem);
  } catch (std::exception const& problem) {
    control.send(message_kind::failure, payload_of(bench_error{problem.what()}));
  }
}

}  // namespace coxswain::bench
