#include "bench_error.hpp"
#include "servers/roles.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/server/server.hpp"

#include <boost/json/value_to.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <utility>

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

}  // namespace

void run_coordinator(boost::json::object const& given) {
  server::options options;
  options.listen = {boost::json::value_to<std::string>(given.at("listen"))};
  options.owns_process = true;
  options.handshakes_per_second_max = 1'000'000;  // all tasks are on one host
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
  if (!given.at("is_quiet").as_bool()) options.log = short_log{};

  asio::io_context io{1};
  server::server coordinator{io, options};
  say({{"listening", coordinator.addresses().at(0)}});
  auto pass_on = [](std::exception_ptr problem) {
    if (problem) std::rethrow_exception(problem);
  };
  asio::co_spawn(io, coordinator.run(), pass_on);
  coordinator.run_context();
}

}  // namespace coxswain::bench
