#pragma once
// A server over real sockets for tests, with its log, and peers for it.

#include "coxswain/server/server.hpp"
#include "tests/server/raw_client.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

inline std::string unix_path(std::string const& name) {
  return "unix:/tmp/coxswain-test-" + std::to_string(::getpid()) + "-" + name;
}

struct harness {
  explicit harness(std::uint32_t tasks = 2) {
    o.core.num_tasks = tasks;
    o.log = [this](core::event const& e) { log.push_back(e.text); };
  }

  void serve() {
    made.emplace(io, o);
    co_spawn(io, made->run(), [this](std::exception_ptr e) { run_ended = !e; });
    co_spawn(io, made->job_done(), [this](std::exception_ptr e) { job_done = !e; });
  }
  raw_client connect(std::size_t listener = 0) {
    if (!made) serve();
    return {io, made->addresses().at(listener)};
  }
  raw_client greeted(std::size_t listener = 0) {
    auto client = connect(listener);
    client.greet();
    return client;
  }
  template <class Condition>
  void until(Condition condition) {
    run_until(io, condition);
  }
  std::ptrdiff_t count(std::string_view part) const {
    return std::count_if(log.begin(), log.end(), [&](auto const& t) { return contains(t, part); });
  }
  bool logged(std::string_view part) const { return count(part) != 0; }

  options o;
  asio::io_context io{1};
  std::vector<std::string> log;
  std::optional<server> made;
  bool run_ended{};
  bool job_done{};
};

}  // namespace coxswain::server
