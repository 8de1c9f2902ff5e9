#include "tests/hostile/quiet_job.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

namespace coxswain::hostile {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t barriers_min = 20;
constexpr duration barrier_timeout = 60s;

asio::awaitable<void> enter(std::string address, task_id task, client& into) {
  client_options options{address, task};
  options.token = "worker";
  options.connect_timeout = barrier_timeout;
  into = co_await client::connect(options);
  co_await into.join(barrier_timeout);
}

asio::awaitable<void> pass(client& one) { co_await one.barrier("round", barrier_timeout); }

}  // namespace

// Runs `step(i)` for all tasks concurrently until all have ended.
template <class Step>
void quiet_job::run_all(Step step) {
  std::size_t open = tasks_.size();
  std::exception_ptr problem;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    asio::co_spawn(io_, step(i), [&](std::exception_ptr p) {
      if (p) problem = p;
      --open;
    });
  }
  while (open != 0 && !problem) io_.run_one();
  if (problem) std::rethrow_exception(problem);
}

quiet_job::quiet_job(std::string const& address, std::size_t tasks) : tasks_(tasks) {
  run_all([&](std::size_t i) {
    return enter(address, task_id{static_cast<std::uint32_t>(i)}, tasks_[i]);
  });
}

latencies quiet_job::measure(duration how_long) {
  std::vector<duration> took;
  auto const end = clock::now() + how_long;
  while (took.size() < barriers_min || clock::now() < end) {
    auto const begin = clock::now();
    run_all([this](std::size_t i) { return pass(tasks_[i]); });
    took.push_back(clock::now() - begin);
  }
  std::sort(took.begin(), took.end());
  return {took.size(), took[took.size() / 2], took[took.size() * 99 / 100], took.back()};
}

std::size_t quiet_job::reconnects() const {
  std::size_t sum = 0;
  for (auto const& task : tasks_) sum += task.reconnects();
  return sum;
}

}  // namespace coxswain::hostile
