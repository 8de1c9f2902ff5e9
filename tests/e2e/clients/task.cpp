// A task for the end-to-end tests: joins the job named by the environment, prints "joined", and
// performs the actions of its arguments in order:
//
//   coxswain-e2e-task step:3 barrier:start get:key leave
//
// Its client blocks; with --coroutines first, barriers and the leave use the coroutine client.
// die:FILE creates FILE and kills the process if FILE does not exist yet; exit exits with code 0
// without leaving.

#include "coxswain/client/blocking_client.hpp"
#include "coxswain/client/client.hpp"
#include "coxswain/net/asio.hpp"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

using namespace coxswain;

namespace {

void die_once(std::string const& file) {
  if (std::filesystem::exists(file)) return;
  std::ofstream{file};
  std::raise(SIGKILL);
}

void act(blocking_client& job, std::string_view what) {
  auto const colon = what.find(':');
  std::string const name{colon == what.npos ? "" : what.substr(colon + 1)};
  std::string_view const verb = what.substr(0, colon);
  if (verb == "die") return die_once(name);
  if (verb == "step") return job.report_progress(std::stoull(name));
  if (verb == "leave") return job.leave();
  if (verb == "exit") std::_Exit(0);
  if (verb == "barrier") {
    job.barrier(name);
  } else if (verb == "get") {
    job.get(name);
  } else {
    throw error{{errc::invalid_argument, "no such thing to do: " + std::string{what}}};
  }
}

asio::awaitable<void> live(std::span<char*> actions) {
  client job = co_await client::connect(client_options::from_environment());
  co_await job.join();
  std::cout << "joined" << std::endl;
  for (std::string const what : actions) {
    auto const name = what.substr(what.find(':') + 1);
    if (what.starts_with("die:")) die_once(name);
    if (what.starts_with("barrier:")) co_await job.barrier(name);
    if (what == "leave") co_await job.leave();
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 1 && argv[1] == std::string_view{"--coroutines"}) {
    asio::io_context io{1};
    std::exception_ptr problem;
    auto take = [&problem](std::exception_ptr p) { problem = std::move(p); };
    asio::co_spawn(io, live({argv + 2, argv + argc}), take);
    io.run();
    if (problem) std::rethrow_exception(problem);
    return 0;
  }
  blocking_client job{client_options::from_environment()};
  job.join();
  std::cout << "joined" << std::endl;
  for (int i = 1; i < argc; ++i) act(job, argv[i]);
} catch (std::exception const& problem) {
  std::cerr << problem.what() << '\n';
  return 1;
}
