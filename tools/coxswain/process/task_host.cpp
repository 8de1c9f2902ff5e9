#include "process/task_host.hpp"

#include "child/ending_signals.hpp"
#include "options/coordinator_options.hpp"
#include "process/machine.hpp"
#include "terminal/error_output.hpp"
#include "terminal/harmless_text.hpp"
#include "text/job_words.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/name_lookup.hpp"

#include <boost/asio/signal_set.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <utility>

namespace coxswain::tools {
namespace {

// Time limit for the tasks of a failed job to leave.
constexpr duration failed_job_lingers = 60s;

// How often the coordinator of a failed job looks whether all have gone.
constexpr duration look_period = 50ms;

server::server open(asio::io_context& io, server::options options) try {
  return server::server{io, std::move(options)};
} catch (error const& problem) {
  throw cannot_start(problem);
}

}  // namespace

task_host::task_host(asio::io_context& io, server::options options)
    : io_{io}, coordinator_{open(io, options)}, has_journal_{!options.journal.directory.empty()} {
  registered_.emplace(described(options, coordinator_.addresses().front()));
  asio::co_spawn(io, coordinator_.run(), [this](std::exception_ptr problem) {
    problem_ = std::move(problem);
    has_ended_ = true;
  });
  asio::co_spawn(io, coordinator_.job_done(), [this](std::exception_ptr) { is_job_done_ = true; });
}

void task_host::end(bool is_good) {
  if (is_good || coordinator_.error()) await_others();
  if (has_journal_ && !is_good && !coordinator_.error()) {
    static_cast<void>(coordinator_.suspend("the coordinator's process is about to be restarted"));
  } else {
    coordinator_.stop(
        last_words(coordinator_.state(), "the task whose process is the coordinator's has ended"));
  }
  run_until(has_ended_);
  if (problem_) std::rethrow_exception(problem_);
}

asio::awaitable<void> warn_unless_local(std::string address) {
  auto const parsed = net::endpoint::parse_list(address).value().front();
  if (parsed.is_unix()) co_return;
  auto const lookup = std::make_shared<net::name_lookup>(parsed);
  auto const found = co_await net::name_lookup::run(lookup);
  std::string why;
  if (!found) {
    why = fmt::format("leads nowhere: {}", harmless_line(found.error().message()));
  } else if (std::none_of(found->begin(), found->end(), is_of_this_machine)) {
    why = fmt::format(
        "{} is none of this machine ({}); unless connections to it are forwarded "
        "here, no task reaches the coordinator.",
        harmless_line(address), found->front().text());
  }
  if (why.empty()) co_return;
  print_error(
      "coxswain task: warning: task 0 hosts the coordinator, but its address {} Set the "
      "address, in COXSWAIN_ADDRESS or with --address, to one of this machine that the "
      "other tasks reach.\n",
      why);
}

void task_host::run_until(bool const& is_over) {
  while (!is_over && io_.run_one() > 0) continue;
}

void task_host::await_others() {
  bool is_over{};
  asio::signal_set signals{io_};
  add_ending_signals(signals);
  signals.async_wait([&](boost::system::error_code, int) { is_over = true; });
  asio::steady_timer look{io_};
  auto const last_look = deadline_after(std::chrono::steady_clock::now(), failed_job_lingers);
  std::function<void()> const await_end = [&] {
    look.expires_after(look_period);
    look.async_wait([&](boost::system::error_code problem) {
      if (problem) return;
      is_over |= std::chrono::steady_clock::now() >= last_look || coordinator_.is_deserted();
      await_end();
    });
  };
  if (coordinator_.error()) await_end();
  while (!is_over && !is_job_done_ && !has_ended_ && io_.run_one() > 0) continue;
  // Cancels pending operations while the objects they refer to still exist.
  signals.cancel();
  look.cancel();
  io_.poll();
}

}  // namespace coxswain::tools
