// The coordinator embedded in a program, as in the README: both sides in one process.

#include "coxswain/client/client.hpp"
#include "coxswain/server/server.hpp"

#include <iostream>

using namespace coxswain;

asio::awaitable<void> talk(server::server& coordinator) {
  client_options options{coordinator.addresses().front(), task_id{0}};
  client job = co_await client::connect_and_join(options);
  co_await job.put("greeting", "every oar moves together");
  std::cout << co_await job.get("greeting") << '\n';
  co_await job.leave();
  coordinator.stop("the example is over");
}

int main() {
  asio::io_context io{1};
  server::options options;
  options.core.num_tasks = 1;
  server::server coordinator{io, options};
  asio::co_spawn(io, coordinator.run(), asio::detached);
  asio::co_spawn(io, talk(coordinator), asio::detached);
  io.run();
}
