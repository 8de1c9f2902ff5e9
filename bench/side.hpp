#pragma once
// One of the things that are compared: a server and the load on it, each in a process of its own.

#include "address.hpp"
#include "child_process.hpp"
#include "floor.hpp"
#include "load.hpp"
#include "machine.hpp"

#include "coxswain/base/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::bench {

class interrupts;

enum class side_kind { floor, coxswain, second_floor };

[[nodiscard]] std::string name(side_kind kind);

struct side_plan {
  side_kind kind{side_kind::coxswain};
  std::uint32_t tasks{};
  cpu_plan cpus;
  // Where to listen; or the address of a coordinator that runs already, and its process if known.
  std::string at;
  bool is_running{};
  std::optional<pid_t> running_as;
  // How the floor's epoll works.
  trigger floor_trigger{trigger::edge};
};

// Some rounds in a row.
struct sample {
  std::vector<round_time> rounds;
  std::optional<duration> server_cpu;  // none: a server whose process is not known
  duration load_cpu{};
};

class side {
 public:
  // Starts the server. Throws bench_error, as all that follow.
  side(side_plan plan, interrupts const& signals);

  // Starts the load: connects all tasks. `progress` is told how many are connected.
  void connect(std::function<void(std::uint64_t)> const& progress);

  sample measure(std::uint64_t rounds);

  // The tasks leave.
  void finish();

  // What its processes have used and waited for so far.
  [[nodiscard]] duration cpu_time() const;
  [[nodiscard]] duration wait_time() const;

 private:
  message receive_from_load();
  [[nodiscard]] std::vector<pid_t> processes() const;

  side_plan plan_;
  interrupts const& signals_;
  std::unique_ptr<child_process> server_;  // none: it runs already
  std::optional<pid_t> server_pid_;
  std::unique_ptr<child_process> load_;
};

}  // namespace coxswain::bench
