#include "bench_error.hpp"
#include "servers/roles.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/server/server.hpp"

#include <boost/json/value_to.hpp>

#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>

#include <unistd.h>

namespace coxswain::bench {
namespace {

// Prints a limited number of problems, so that the program's own lines stay visible.
class short_log {
 public:
  void operator()(core::event const& e) {
    if (e.level == core::severity::info || left_ == 0) return;
    std::cerr << "coordinator: " << e.text << '\n';
    if (--left_ == 0) std::cerr << "coordinator: (its further warnings are not shown)\n";
  }

 private:
  int left_{3};
};

// On request, after all sessions have ended, so that their last messages are included.
asio::awaitable<void> hand_out_recording(server::server const& coordinator) {
  auto const executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor asked{executor, ::dup(STDIN_FILENO)};
  co_await asked.async_wait(asio::posix::descriptor_base::wait_read, asio::use_awaitable);
  std::string path;
  if (!std::getline(std::cin, path)) co_return;
  asio::steady_timer pause{executor};
  auto const patient_until = std::chrono::steady_clock::now() + 5s;
  while (coordinator.look().sessions > 0 && std::chrono::steady_clock::now() < patient_until) {
    pause.expires_after(5ms);
    co_await pause.async_wait(asio::use_awaitable);
  }
  std::ofstream file{path, std::ios::binary};
  file << coordinator.recording() << std::flush;
  if (!file) throw bench_error{"cannot write the recording to " + path};
  say({{"recording", path}});
}

}  // namespace

void run_coordinator(boost::json::object const& given) {
  server::options options;
  options.listen = {boost::json::value_to<std::string>(given.at("listen"))};
  options.owns_process = true;
  options.handshakes_per_second_max = 1'000'000;  // all tasks are on one host
  if (auto const* const tls = given.if_contains("tls")) options.tls = tls_options_of(*tls);
  options.core.num_tasks = boost::json::value_to<std::uint32_t>(given.at("num_tasks"));
  options.core.join_barrier = given.at("is_together").as_bool();
  options.core.leave_barrier = options.core.join_barrier;
  if (auto const* const grace = given.if_contains("reconnect_grace_ns")) {
    options.core.reconnect_grace = duration{grace->as_int64()};
  }
  if (auto const* const spin = given.if_contains("spin_us")) {
    options.spin = std::chrono::microseconds{spin->as_int64()};
  }
  if (auto const* const journal = given.if_contains("journal")) {
    options.journal.directory = boost::json::value_to<std::string>(*journal);
    bool const is_on_disk = given.at("durability").as_string() == "disk";
    options.journal.level = is_on_disk ? server::durability::disk : server::durability::process;
  }
  bool const is_recorded = given.contains("record_bytes_max");
  if (is_recorded) {
    options.record_bytes_max = boost::json::value_to<std::size_t>(given.at("record_bytes_max"));
  }
  if (!given.at("is_quiet").as_bool()) options.log = short_log{};

  asio::io_context io{1};
  server::server coordinator{io, options};
  say({{"listening", coordinator.addresses().at(0)}});
  auto pass_on = [](std::exception_ptr problem) {
    if (problem) std::rethrow_exception(problem);
  };
  asio::co_spawn(io, coordinator.run(), pass_on);
  if (is_recorded) asio::co_spawn(io, hand_out_recording(coordinator), pass_on);
  coordinator.run_context();
}

}  // namespace coxswain::bench
