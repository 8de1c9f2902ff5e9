#include "coordinator_process.hpp"

#include "coxswain/server/server.hpp"

#include <exception>
#include <iostream>
#include <utility>

namespace coxswain::bench {
namespace {

// Prints what is amiss, but not for ever: the program's own lines are to be seen.
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

void serve_coordinator(std::string const& listen, core::config job, bool is_quiet,
                       std::function<void(std::string const&)> const& listening) {
  asio::io_context io{1};
  server::options options;
  options.listen = {listen};
  job.memory_bytes_max = options.core.memory_bytes_max;  // as much as this machine allows
  options.core = std::move(job);
  if (!is_quiet) options.log = short_log{};
  server::server coordinator{io, options};
  listening(coordinator.addresses().at(0));

  auto pass_on = [](std::exception_ptr problem) {
    if (problem) std::rethrow_exception(problem);
  };
  asio::co_spawn(io, coordinator.run(), pass_on);
  io.run();
}

}  // namespace coxswain::bench
