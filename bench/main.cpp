// coxswain-load: one process of the benchmark, started by driver/processes.py.
//
//     coxswain-load ROLE [OPTIONS]    OPTIONS are JSON

#include "bench_error.hpp"
#include "servers/baseline.hpp"
#include "servers/roles.hpp"
#include "workloads/workload.hpp"

#include "coxswain/base/heap.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace coxswain::bench {
namespace {

namespace json = boost::json;

// Its memory before serving is measured from outside.
void await_start() {
  trim_heap();
  say({{"started", true}});
  std::string ignored;
  std::getline(std::cin, ignored);
}

void be_baseline(json::object const& given) {
  await_start();
  serve_baseline(address{json::value_to<std::string>(given.at("listen"))},
                 json::value_to<std::size_t>(given.at("together")), [](std::string const& where) {
                   say({{"listening", where}});
                 });
}

void be_coordinator(json::object const& given) {
  await_start();
  run_coordinator(given);
}

void describe_program(json::object const& /*given*/) {
#ifdef NDEBUG
  constexpr std::string_view purpose = "release";
#else
  constexpr std::string_view purpose = "debugging: it is slow";
#endif
#ifdef __clang__
  constexpr std::string_view compiler = "";  // its version begins with its name
#else
  constexpr std::string_view compiler = "g++ ";
#endif
  say({{"program", fmt::format("coxswain-bench {}, built by {}{} for {}", COXSWAIN_VERSION,
                               compiler, __VERSION__, purpose)}});
}

// False if nothing arrived for this long; zero: without limit.
bool wait_for_command(duration longest) {
  auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(longest).count();
  pollfd waited{STDIN_FILENO, POLLIN, 0};
  return ::poll(&waited, 1, ms == 0 ? -1 : static_cast<int>(ms)) != 0;
}

int run(std::string const& role, char const* given) try {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  static std::map<std::string, std::function<void(json::object)>> const roles{
      {"baseline", be_baseline},
      {"coordinator", be_coordinator},
      {"load", run_load},
      {"program", describe_program}};
  auto const found = roles.find(role);
  if (found == roles.end()) refuse("there is no role '{}': bench/measure --help", role);
  found->second(json::parse(given).as_object());
  return 0;
} catch (bench_error const& problem) {
  say({{"error", problem.what()}, {"code", static_cast<int>(problem.code())}});
  return static_cast<int>(problem.code());
} catch (std::exception const& problem) {
  say({{"error", problem.what()}, {"code", static_cast<int>(exit_code::failed)}});
  return static_cast<int>(exit_code::failed);
}

}  // namespace

void say(json::object const& what) { std::cout << json::serialize(what) << std::endl; }

void run_load(json::object given) {
  auto const workload = json::value_to<std::string>(given.at("workload"));
  auto const all = make_load(workload, load_plan{std::move(given)});
  all->connect([](std::uint64_t n) { say({{"connections", n}}); });
  say({{"connected", true}});
  for (;;) {
    if (!wait_for_command(all->beat_period())) {
      all->beat();
      continue;
    }
    std::string command;
    if (!std::getline(std::cin, command)) return;
    if (command.starts_with("measure ")) {
      say(all->measure(std::stoull(command.substr(8))).to_json());
    } else {
      all->finish();
      say({{"finished", true}});  // the connections stay until the server has ended
    }
  }
}

}  // namespace coxswain::bench

int main(int argc, char** argv) {
  return coxswain::bench::run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "{}");
}
