// A program of a library user: the coordinator of a job of one task, and that task.
#include "coxswain/c/coxswain.h"
#include "coxswain/client/client.hpp"
#include "coxswain/server/server.hpp"

#include <exception>
#include <iostream>
#include <string>
#include <utility>

namespace asio = coxswain::asio;
using namespace std::chrono_literals;

asio::awaitable<void> work(coxswain::server::server& coordinator) {
  coxswain::client_options options{coordinator.addresses().front(), coxswain::task_id{0}};
  coxswain::client client = co_await coxswain::client::connect(std::move(options));
  co_await client.join();
  co_await client.put("greeting", "hello");
  std::string const greeting = co_await client.get("greeting", 10s);
  co_await client.barrier("all have read", 10s);
  co_await client.leave();
  std::cout << greeting << '\n';
  coordinator.stop("the job is done");
}

extern "C" int code_without_a_coordinator(void);

int main() {
  if (code_without_a_coordinator() != COXSWAIN_DEADLINE_EXCEEDED) return 1;
  auto fail_loudly = [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  };
  asio::io_context io{1};
  coxswain::server::server coordinator{io, coxswain::server::options{}};
  asio::co_spawn(io, coordinator.run(), fail_loudly);
  asio::co_spawn(io, work(coordinator), fail_loudly);
  io.run();
}
