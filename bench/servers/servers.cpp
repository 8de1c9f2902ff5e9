#include "servers/servers.hpp"

#include "bench_error.hpp"
#include "workloads/workload.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/server/server.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

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

// When it is asked: once all sessions have ended, so that their last words are in it.
asio::awaitable<void> hand_out_recording(server::server const& coordinator, channel& control) {
  auto const executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor asked{executor, ::dup(control.fd())};
  co_await asked.async_wait(asio::posix::descriptor_base::wait_read, asio::use_awaitable);
  if (!control.receive()) co_return;
  asio::steady_timer pause{executor};
  auto const patient_until = std::chrono::steady_clock::now() + 5s;
  while (coordinator.look().sessions > 0 && std::chrono::steady_clock::now() < patient_until) {
    pause.expires_after(5ms);
    co_await pause.async_wait(asio::use_awaitable);
  }
  control.send(message_kind::recording, coordinator.recording());
}

constexpr auto start_max = 20s;

struct program {
  std::string name;
  std::string package;
};

program program_of(side_kind kind) {
  if (kind == side_kind::etcd) return {"etcd", "etcd-server"};
  return {"redis-server", "redis-server"};
}

bool is_in_path(std::string const& file) {
  auto const* const path = std::getenv("PATH");
  std::istringstream folders{path == nullptr ? "" : path};
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + '/' + file).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string log_in(std::string const& directory) { return directory + "/log"; }

std::vector<std::string> redis_command(address const& at, std::string const& directory) {
  std::vector<std::string> words{"redis-server", "--save",     "",
                                 "--appendonly", "no",         "--dir",
                                 directory,      "--loglevel", "warning",
                                 "--maxclients", "1000000",    "--client-output-buffer-limit",
                                 "pubsub 0 0 0"};
  if (at.is_unix()) {
    words.insert(words.end(),
                 {"--port", "0", "--unixsocket", at.text().substr(at.text().find(':') + 1)});
  } else {
    words.insert(words.end(),
                 {"--bind", "127.0.0.1", "--port", at.text().substr(at.text().rfind(':') + 1)});
  }
  return words;
}

// One member, alone.
std::vector<std::string> etcd_command(address const& at, std::string const& directory) {
  auto const url = "http://" + at.text();
  address peers{"127.0.0.1:0"};
  (void)peers.listen();
  return {"etcd",
          "--data-dir",
          directory + "/data",
          "--unsafe-no-fsync",
          "--log-level",
          "error",
          "--listen-client-urls",
          url,
          "--advertise-client-urls",
          url,
          "--listen-peer-urls",
          "http://" + peers.text()};
}

[[noreturn]] void become(std::vector<std::string> words, std::string const& log) {
  auto const out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execvp(arguments.front(), arguments.data());
  throw system_failure("cannot start " + words.front());
}

// The end of what it has written.
std::string last_words_in(std::string const& log) {
  constexpr std::size_t words_max = 2'000;
  std::ifstream file{log};
  std::string all{std::istreambuf_iterator<char>{file}, {}};
  return all.size() > words_max ? all.substr(all.size() - words_max) : all;
}

// A port that is free now.
address chosen(std::string const& listen) {
  address at{listen};
  if (!at.is_unix()) (void)at.listen();
  return at;
}

}  // namespace

void serve_coordinator(coordinator_plan plan, channel& control) {
  asio::io_context io{1};
  server::options options;
  options.listen = {plan.listen};
  options.owns_process = true;
  options.tls = plan.tls;
  options.handshakes_per_second_max = 1'000'000;              // all tasks are on one host
  plan.job.memory_bytes_max = options.core.memory_bytes_max;  // as much as this machine allows
  options.core = std::move(plan.job);
  if (plan.record_bytes_max) options.record_bytes_max = *plan.record_bytes_max;
  if (!plan.is_quiet) options.log = short_log{};
  server::server coordinator{io, options};
  control.send(message_kind::listening, coordinator.addresses().at(0));

  auto pass_on = [](std::exception_ptr problem) {
    if (problem) std::rethrow_exception(problem);
  };
  asio::co_spawn(io, coordinator.run(), pass_on);
  if (plan.record_bytes_max) asio::co_spawn(io, hand_out_recording(coordinator, control), pass_on);
  io.run();
}

bool is_rival(side_kind kind) noexcept {
  return kind == side_kind::redis || kind == side_kind::etcd;
}

std::string files_parent_of(side_kind kind) {
  constexpr char const* in_memory = "/dev/shm";
  return kind == side_kind::etcd && ::access(in_memory, W_OK) == 0 ? in_memory : "/tmp";
}

void need_rival(side_kind kind, bool over_unix_sockets) {
  if (kind == side_kind::etcd && over_unix_sockets) {
    throw bench_error{"--vs etcd: only --transport tcp", exit_code::usage};
  }
  auto const wanted = program_of(kind);
  if (is_in_path(wanted.name)) return;
  throw bench_error{fmt::format("--vs {}: the program {} is not installed. On Debian: apt-get "
                                "install {}",
                                name(kind), wanted.name, wanted.package),
                    exit_code::unavailable};
}

void become_rival(side_kind kind, std::string const& listen, std::string const& directory,
                  channel& control) {
  auto const at = chosen(listen);
  control.send(message_kind::listening, at.text());
  become(kind == side_kind::etcd ? etcd_command(at, directory) : redis_command(at, directory),
         log_in(directory));
}

void await_rival(address const& at, std::string const& directory,
                 std::function<std::optional<std::string>()> const& ending) {
  auto const until = std::chrono::steady_clock::now() + start_max;
  for (;;) {
    try {
      (void)connector{at}.connect();
      return;
    } catch (bench_error const& problem) {
      auto const ended = ending();
      if (!ended && std::chrono::steady_clock::now() < until) {
        ::usleep(10'000);
        continue;
      }
      throw bench_error{
          fmt::format("the rival's server cannot be reached: {}; its process {}. It "
                      "said: {}",
                      problem.what(), ended.value_or("runs"), last_words_in(log_in(directory)))};
    }
  }
}

}  // namespace coxswain::bench
