#pragma once
// One of the things that are compared: a server and the load on it, each in a process of its own.

#include "load/tally.hpp"
#include "servers/floor.hpp"
#include "servers/machine.hpp"
#include "servers/process.hpp"
#include "workloads/workload.hpp"

#include "coxswain/base/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::bench {

struct side_plan {
  plan const* work{};  // outlives the side
  side_kind kind{side_kind::coxswain};
  cpu_plan cpus;
  // Where to listen; or the address of a coordinator that runs already. And the server's process,
  // once it is known.
  std::string at;
  // What both of its sides show, if TLS is spoken.
  std::optional<tls_options> tls;
  bool is_running{};
  std::optional<pid_t> running_as;
  // Where a rival may keep files.
  std::string directory;
  // How the floor's epoll works.
  trigger floor_trigger{trigger::edge};
};

// What a load found in some steps in a row, and what the operating system knows of them.
struct sample {
  tally found;
  // None: a server whose process is not known.
  std::optional<duration> server_cpu;
  std::uint64_t server_first_bytes{};  // of its process, before it was a server; zero: not known
  std::optional<memory_use> server_before;
  std::optional<memory_use> server_after;
  duration load_cpu{};  // preparations included
};

class side {
 public:
  // Starts the server. Throws bench_error, as all that follow.
  side(side_plan plan, interrupts const& signals);
  ~side();
  side(side const&) = delete;
  side& operator=(side const&) = delete;

  // Starts the load. `progress` is told how many connections there are.
  void connect(std::function<void(std::uint64_t)> const& progress);

  sample measure(std::uint64_t steps);

  // See load::turn_to.
  void turn_to(std::uint64_t act);

  // See load::conclude.
  [[nodiscard]] std::string conclude();

  // The load leaves in order.
  void finish();

  // By how much the server's memory grew while the load connected; none if its process is not
  // known.
  [[nodiscard]] std::optional<double> bytes_connected() const noexcept { return bytes_connected_; }

  // What the coordinator was told, once the load has left.
  [[nodiscard]] std::string recording();

  // What its processes have used and waited for so far. Waiting does not count for the further
  // processes of a load: they wait for each other.
  [[nodiscard]] duration cpu_time() const;
  [[nodiscard]] duration wait_time() const;

 private:
  message receive_from_load();
  [[nodiscard]] std::vector<pid_t> processes() const;
  [[nodiscard]] duration load_cpu_time() const;

  side_plan plan_;
  interrupts const& signals_;
  std::unique_ptr<child_process> server_;  // none: it runs already
  std::optional<pid_t> server_pid_;
  std::uint64_t server_first_bytes_{};
  std::unique_ptr<child_process> load_;
  std::optional<double> bytes_connected_;
  std::vector<pid_t> further_;  // of the load
};

}  // namespace coxswain::bench
