#pragma once
// A whole job in virtual time: one coordinator, its processes, and a faulty network between them.
// The coordinator is the server's dispatch and the processes are the client's agent, so that all
// but the sockets is real. Every step checks the coordinator's invariants. Not here: what the
// processes do and what goes wrong (the tests).

#include "coxswain/server/dispatch.hpp"
#include "tests/sim/network.hpp"
#include "tests/sim/process.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace coxswain::sim {

// How a world is run.
struct habits {
  std::uint32_t steps_per_check{1};                // the coordinator's invariants, so often
  bool keeps_log{true};                            // the coordinator's log
  bool keeps_recording{true};                      // of what is put into the coordinator
  std::function<void(std::string_view)> record{};  // gets all of it
  std::size_t queued_bytes_max{64 * 1024 * 1024};  // of one connection
};

class world {
 public:
  world(std::uint64_t seed, core::config options, habits ways = {});

  // Adds a process; its agent starts at once. After `fence_after` without the coordinator it gives
  // up; none: as the coordinator says. With `acts_for` it is a guest.
  process& add(std::optional<task_id> task, std::optional<duration> fence_after = std::nullopt,
               std::optional<core::guest_args> acts_for = std::nullopt);

  // Something that happens at a time.
  void at(time_point when, std::function<void()> what);

  // Faults.
  void cut(process& p);                         // both ends learn it, soon
  void cut_silently(process& p);                // without notifying any peer
  void kill(process& p);                        // the process dies, its host closes the socket
  void pause(process& p, duration time);        // the process is stopped
  void stall(duration time);                    // the coordinator's loop is stalled
  void refuse_connections(duration time);       // nothing listens for a while
  void read_slowly(process& p, duration time);  // what is sent to it is not read

  // Runs until all scripts are done, or `limit` has passed.
  void run(duration limit);

  // Runs until `is_done`, which is asked after each step, or `limit` has passed.
  void run(duration limit, std::function<bool()> const& is_done);

  // Runs for this long.
  void pass(duration time);

  // Replays the coordinator's inputs into another one, which must behave the same. Returns the
  // difference; empty if none.
  [[nodiscard]] std::string fault_of_recording() const;

  // Whether a deadlock was reported.
  [[nodiscard]] bool was_stuck() const;

  // The processes say Bye, as far as they live, and the network delivers it.
  void finish();

  time_point now{};
  duration delay_max{2ms};
  generator random;
  std::vector<std::string> log;  // the coordinator's log
  server::dispatch coordinator;
  std::vector<std::unique_ptr<process>> processes;
  // Called for each connection that is opened, to make plans for it.
  std::function<void(link&)> on_link;
  // What arrives instead of these bytes, which come from a process or are sent to it.
  using change = std::function<std::string(process&, link const&, std::string_view)>;
  change change_up;
  change change_down;

 private:
  bool step(time_point limit);
  void deliver_to_coordinator();
  [[nodiscard]] bool is_read(link& line);
  void hear_to_the_end(link const& line);
  [[nodiscard]] time_point next_read(link const& line) const;
  void deliver_to_processes();
  void run_plans();
  void take_from(process& p);
  void take_from_coordinator();
  void write_out(link& line, process& p);
  void write_to_late_readers();
  void open_link(process& p);
  void accept(link& line);
  void close_at_client(process& p);
  [[nodiscard]] time_point next_event() const;
  [[nodiscard]] bool is_running(process const& p) const { return p.alive && p.paused_until <= now; }

  std::multimap<time_point, std::function<void()>> plans_;
  std::vector<std::pair<std::shared_ptr<link>, process*>> links_;
  time_point stalled_until_{};
  time_point refusing_until_{};
  std::uint64_t processes_seeded_{};
  std::uint64_t links_opened_{};
  std::vector<connection_id> dirty_;
  habits ways_;
  std::uint32_t steps_{};
};

}  // namespace coxswain::sim
