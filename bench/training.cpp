// The job whose profile guides gcc (tools/cmake/CoxswainPGO.cmake): what a coordinator is asked
// most, by a process of clients over sockets. How often each thing is done matters little: gcc
// wants to know which branches are taken and which functions are worth inlining.

#include "coxswain/base/error.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/descriptor.hpp"
#include "coxswain/server/server.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coxswain::bench {
namespace {

constexpr std::size_t frame_bytes_max = 1024 * 1024;
constexpr std::size_t batch = 16;  // requests that a client sends at once

// A failure ends the build instead of keeping it waiting.
constexpr timeval patience{60, 0};

[[noreturn]] void fail(char const* doing) {
  throw std::system_error{errno, std::generic_category(), doing};
}

class client {
 public:
  explicit client(sockaddr_in const& server) : socket_{::socket(AF_INET, SOCK_STREAM, 0)} {
    if (::setsockopt(socket_.value(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        ::connect(socket_.value(), reinterpret_cast<sockaddr const*>(&server), sizeof server) !=
            0) {
      fail("a client connects");
    }
    core::hello_args hello;
    hello.label = "worker-host-17:31415";
    add({}, {}, hello);
    exchange();
  }

  void ask(std::uint32_t task, core::request what) {
    add(request_id{++asked_}, task_id{task}, std::move(what));
  }
  // Two heartbeats: right after answers, only the second is answered.
  void say_it_lives() {
    add({}, {}, std::monostate{});
    add({}, {}, std::monostate{});
    --unanswered_;
  }

  void send() {
    std::string_view left{output_};
    while (!left.empty()) {
      auto const sent = ::send(socket_.value(), left.data(), left.size(), MSG_NOSIGNAL);
      if (sent < 0) fail("a client sends");
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
    output_.clear();
  }

  // Everything was sent; returns when all is answered.
  void read() {
    while (unanswered_ > 0) {
      auto const got = ::recv(socket_.value(), buffer_.data(), buffer_.size(), 0);
      if (got < 0) fail("a client reads");
      if (got == 0) throw std::runtime_error{"the server has closed a connection"};
      decoder_.feed({buffer_.data(), static_cast<std::size_t>(got)});
      while (auto const frame = decoder_.next().value()) {
        auto const message = wire::decode_server(*frame).value();
        if (!message.what.outcome.ok()) throw error{message.what.outcome};
        --unanswered_;
      }
      decoder_.keep();
    }
    answered_ = asked_;
  }

  void exchange() {
    send();
    read();
  }

 private:
  void add(request_id id, task_id task, core::request what) {
    wire::append_frame(output_, {id, answered_, task, std::move(what)});
    ++unanswered_;
  }

  net::descriptor socket_;
  wire::frame_decoder decoder_{frame_bytes_max};
  std::string output_;
  std::array<char, 64 * 1024> buffer_{};
  std::uint64_t asked_{};
  std::uint64_t answered_{};
  std::size_t unanswered_{};
};

class job {
 public:
  job(sockaddr_in const& server, std::uint32_t num_tasks, std::uint32_t tasks_per_client)
      : tasks_{num_tasks}, per_client_{tasks_per_client} {
    clients_.reserve(num_tasks / per_client_);
    while (clients_.size() < num_tasks / per_client_) clients_.emplace_back(server);
    all_ask([](std::uint32_t task) {
      return core::join_args{incarnation{task + 1}, core::timeout_default};
    });
  }

  // Each task makes one request; `make` is called with its number.
  template <class Make>
  void all_ask(Make make) {
    for (std::uint32_t task = 0; task < tasks_; ++task) of(task).ask(task, make(task));
    exchange();
  }

  // Each task makes many requests at once; `make` is called with a different number each time.
  template <class Make>
  void all_ask_much(Make make) {
    for (std::uint32_t task = 0; task < tasks_; ++task) {
      for (std::size_t i = 0; i < batch; ++i) of(task).ask(task, make(made_++));
    }
    exchange();
  }

  // The same, but each request only when the previous one is answered.
  template <class Make>
  void ask_in_turn(Make make) {
    for (std::uint32_t task = 0; task < tasks_; ++task) {
      for (std::size_t i = 0; i < batch; ++i) {
        of(task).ask(task, make(made_++));
        of(task).exchange();
      }
    }
  }

  void all_live() {
    for (auto& one : clients_) one.say_it_lives();
    exchange();
  }

 private:
  [[nodiscard]] client& of(std::uint32_t task) { return clients_[task / per_client_]; }

  void exchange() {
    for (auto& one : clients_) one.send();
    for (auto& one : clients_) one.read();
  }

  std::uint32_t tasks_;
  std::vector<client> clients_;
  std::uint32_t per_client_;
  std::uint64_t made_{};
};

std::string key(std::uint64_t number) {
  return "checkpoint/shard/" + std::to_string(number % 1000);
}

core::put_args put(std::uint64_t number) {
  return {key(number), std::string(1 + number % 199, 'v'), true};
}

core::barrier_args barrier(std::string name, std::string data = {}) {
  core::barrier_args made;
  made.name = std::move(name);
  made.data = std::move(data);
  return made;
}

void use_keys(job& in) {
  for (int round = 0; round < 10; ++round) {
    in.all_ask_much(put);
    in.all_ask_much([](std::uint64_t i) { return core::get_args{key(i)}; });
    in.ask_in_turn(put);
    in.ask_in_turn([](std::uint64_t i) { return core::get_args{key(i)}; });
  }
  in.all_ask([](std::uint32_t task) { return core::append_args{key(task), "more"}; });
  in.all_ask([](std::uint32_t) { return core::increment_args{"steps", 1}; });
  in.all_ask([](std::uint32_t) { return core::list_args{"checkpoint"}; });
  in.all_ask([](std::uint32_t) { return core::count_keys_args{"checkpoint"}; });
  in.all_ask([](std::uint32_t task) { return core::remove_args{key(task)}; });
  // All wait for one value.
  in.all_ask([](std::uint32_t task) -> core::request {
    if (task + 1 < 64) return core::get_args{"address"};
    return core::put_args{"address", std::string(1024, 'a'), true};
  });
}

void wait_for_each_other(job& in, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    in.all_ask([](std::uint32_t) { return barrier("step"); });
    in.all_live();
  }
}

void exchange_data(job& in) {
  for (int round = 0; round < 8; ++round) {
    in.all_ask([](std::uint32_t) {
      auto made = barrier("data", std::string(64, 'd'));
      made.gather = true;
      return made;
    });
    in.all_ask([](std::uint32_t) {
      auto made = barrier("sum", std::string(8, '\1'));
      made.reduce = core::reduction::sum_int64;
      return made;
    });
  }
}

void leave(job& from) {
  from.all_ask([](std::uint32_t) { return core::leave_args{}; });
}

sockaddr_in address_of(server::server const& one) {
  auto const& address = one.addresses().at(0);
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  made.sin_port =
      ::htons(static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1))));
  return made;
}

// The whole life of the other process. Destructors of the server's objects, which it has by its
// fork, must not run in it.
template <class Work>
[[noreturn]] void be_clients(sockaddr_in const& server, std::uint32_t num_tasks,
                             std::uint32_t tasks_per_client, Work work) noexcept {
  try {
    job one{server, num_tasks, tasks_per_client};
    work(one);
    leave(one);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "training: %s\n", e.what());
    std::_Exit(1);
  }
  std::exit(0);  // and write the counts
}

// Serves a job whose clients are another process, which calls `work`. Throws if they fail.
template <class Work>
void train(std::uint32_t num_tasks, std::uint32_t tasks_per_client, Work work) {
  server::options options;
  options.core.num_tasks = num_tasks;
  options.core.changes_max = 1024;  // the log of changes becomes full
  options.owns_process = true;
  asio::io_context io{1};
  server::server coordinator{io, options};
  asio::signal_set ended{io, SIGCHLD};
  auto const clients = ::fork();
  if (clients < 0) fail("the clients start");
  if (clients == 0) be_clients(address_of(coordinator), num_tasks, tasks_per_client, work);
  ended.async_wait([&](auto, int) { coordinator.stop("trained"); });
  asio::co_spawn(io, coordinator.run(), asio::detached);
  coordinator.run_context();
  int outcome{};
  if (::waitpid(clients, &outcome, 0) != clients) fail("the clients end");
  if (outcome != 0) throw std::runtime_error{"the clients have failed"};
}

}  // namespace
}  // namespace coxswain::bench

int main() {
  using namespace coxswain::bench;
  try {
    for (int i = 0; i < 4; ++i) {
      train(64, 1, [](job& one) {
        use_keys(one);
        wait_for_each_other(one, 50);
        exchange_data(one);
      });
    }
    train(500, 1, [](job& one) { wait_for_each_other(one, 10); });
    train(1000, 100, [](job& one) { wait_for_each_other(one, 20); });
  } catch (std::exception const& e) {
    std::fprintf(stderr, "training: %s\n", e.what());
    return 1;
  }
}
