#include "process/standby_process.hpp"

#include "child/ending_signals.hpp"
#include "options/exit_code.hpp"
#include "process/machine.hpp"
#include "process/reload.hpp"
#include "process/service_manager.hpp"
#include "terminal/error_output.hpp"
#include "text/json.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/etcd/log_writer.hpp"
#include "coxswain/server/standby/standby.hpp"
#include "coxswain/status/standby_page.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <boost/asio/signal_set.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace coxswain::tools {
namespace {

// For a leader that resigns: until its last inputs and its snapshot are in etcd.
constexpr duration resigns_within = 10s;

void write_line(core::severity level, std::string const& text) {
  switch (level) {
    case core::severity::info: return spdlog::info(text);
    case core::severity::warning: return spdlog::warn(text);
    case core::severity::error: return spdlog::error(text);
  }
}

// Runs the coroutine to its end.
template <class Result>
Result run(asio::io_context& io, asio::awaitable<Result> what) {
  std::exception_ptr failure;
  Result made{};
  asio::co_spawn(io, std::move(what), [&](std::exception_ptr problem, Result given) {
    failure = problem;
    made = std::move(given);
    io.stop();
  });
  io.restart();
  io.run();
  if (failure) std::rethrow_exception(failure);
  return made;
}

asio::awaitable<bool> resign(std::shared_ptr<server::leadership> one) {
  co_await server::leadership::resign(std::move(one),
                                      std::chrono::steady_clock::now() + resigns_within);
  co_return true;
}

// While it follows: what it shows, and signals.
class follower_process {
 public:
  follower_process(asio::io_context& io, coordinator_options& given,
                   std::shared_ptr<server::standby> waiting)
      : given_{given},
        waiting_{std::move(waiting)},
        manager_{io},
        signals_{io, SIGINT, SIGTERM},
        hangup_{io, [this] { reload(given_, *waiting_, page_ ? &*page_ : nullptr); },
                [this] { end_by(SIGHUP); }} {
    if (given.has_page()) {
      page_.emplace(io, given.page, [one = waiting_] { return one->view(); });
      auto& listen = given.page.listen;  // of the leader's page, too
      if (listen == "0" || listen.ends_with(":0")) listen = page_->address();
    }
    manager_.ready("standby at " + waiting_->addresses().front());
    await();
  }

  [[nodiscard]] std::string http() const { return page_ ? page_->address() : std::string{}; }

 private:
  void await() {
    signals_.async_wait([this](boost::system::error_code problem, int number) {
      if (!problem) end_by(number);
    });
  }

  void end_by(int signal) {
    spdlog::info("signal {}: this standby ends", signal);
    waiting_->stop();
  }

  coordinator_options& given_;
  std::shared_ptr<server::standby> waiting_;
  service_manager manager_;
  asio::signal_set signals_;
  hangup hangup_;
  std::optional<status_page::standby_page> page_;
};

void announce(coordinator_options const& given, server::standby const& waiting,
              std::string const& http) {
  auto const& addresses = waiting.addresses();
  if (!given.port_file.empty()) write_lines_atomically(given.port_file, addresses);
  json::object line{{"event", "standby"},
                    {"addresses", json::array(addresses.begin(), addresses.end())},
                    {"job", given.server.core.job},
                    {"pid", ::getpid()}};
  if (!http.empty()) line["http"] = http;
  print_report("{}\n", serialized(line));
}

}  // namespace

int stand_by(asio::io_context& io, coordinator_options& given, engine_options const& engine,
             std::function<int(server::shared_job)> const& lead) {
  auto& core = given.server.core;
  if (engine.large_values == large_value_treatment::keep) {
    core.volatile_above = etcd::value_bytes_max;
  } else {
    core.value_bytes_max = std::min(core.value_bytes_max, etcd::value_bytes_max);
  }
  // Between two roles SIGHUP has no effect, instead of its default one.
  asio::signal_set between{io};
  if (!is_ignored(SIGHUP)) between.add(SIGHUP);
  std::shared_ptr<server::standby> waiting;
  std::optional<follower_process> follows;
  try {
    waiting = server::standby::make(io, given.server, engine.standby, &write_line);
    follows.emplace(io, given, waiting);
  } catch (error const& problem) {
    throw cannot_start(problem);
  }
  if (engine.standby.address.empty()) waiting->advertise(with_host_name(waiting->addresses()[0]));
  announce(given, *waiting, follows->http());
  for (;;) {
    if (!follows) follows.emplace(io, given, waiting);
    std::shared_ptr<server::leadership> leads;
    try {
      leads = run(io, server::standby::lead(waiting));
    } catch (error const& problem) {
      throw program_error{exit_code_of(problem.outcome().code()), problem.what()};
    }
    if (!leads) return 0;
    follows.reset();
    given.server.listen = waiting->inherited();
    try {
      int const code = lead({leads->log, std::move(leads->job), leads->term()});
      run(io, resign(leads));
      return code;
    } catch (error const& problem) {
      auto const code = problem.outcome().code();
      if (code != errc::aborted && code != errc::unavailable) throw;
      spdlog::warn("this coordinator does not lead any more: {}", problem.message());
    }
    leads->abandon();
  }
}

}  // namespace coxswain::tools
