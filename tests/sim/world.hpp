#pragma once
// A whole job in virtual time: one coordinator, its processes, and a faulty network between them.
// The coordinator is the server's dispatch and the processes use the client's agent, so that
// everything except the sockets is real. Every step checks the coordinator's invariants. Not here:
// scripts and faults (the tests).

#include "coxswain/server/dispatch.hpp"
#include "tests/sim/memory_journal.hpp"
#include "tests/sim/network.hpp"
#include "tests/sim/process.hpp"
#include "tests/sim/relay_process.hpp"

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

// How long a disk takes.
constexpr duration synchronization_max = 10ms;

// Options of a world.
struct habits {
  std::uint32_t steps_per_check{1};  // between checks of the invariants
  bool keeps_recording{true};        // of the coordinator's inputs
  // Gets the whole recording of the first coordinator.
  std::function<void(std::string_view)> record{};
  bool checks_snapshots{};                         // after each step, see `fault_of_snapshots`
  std::size_t queued_bytes_max{64 * 1024 * 1024};  // of one connection
  // The coordinator has a journal and can be restarted. The first process, without delays, is an
  // observer that misses nothing: it sees what was committed before a restart, and is the first to
  // resume.
  bool has_journal{};
  bool has_disk{};  // with which its journal is synchronized
  std::optional<std::uint64_t> batches_per_snapshot;
  restart_bug wrong_restarts{restart_bug::none};
  relay_bug wrong_relays{relay_bug::none};
};

class world {
 public:
  world(std::uint64_t seed, core::config given, habits ways = {});

  // Adds a process; its agent starts at once. After `fence_after` without the coordinator it gives
  // up; none: the coordinator's timeout. With `acts_for` it is a guest. Addresses are the
  // coordinator's, and those of relays.
  process& add(std::optional<task_id> task, std::optional<duration> fence_after = std::nullopt,
               std::optional<core::guest_args> acts_for = std::nullopt,
               std::vector<std::string> addresses = {"simulated:1"});

  // Adds a relay, which begins at once.
  relay_process& add_relay(std::string address);
  void start_relay(relay_process& one) { one.start(++relays_seeded_); }

  // Schedules an action.
  void at(time_point when, std::function<void()> what);

  // Faults.
  void cut(process& p);                         // both ends notice soon
  void cut_silently(process& p);                // without notifying any peer
  void kill(process& p);                        // the process dies, its host closes the socket
  void pause(process& p, duration time);        // the process is stopped
  void stall(duration time);                    // the coordinator's loop is stalled
  void refuse_connections(duration time);       // nothing listens for a while
  void read_slowly(process& p, duration time);  // it reads nothing
  // The coordinator is killed, at some moment of its next loop iteration with input, and started
  // again from its journal.
  void restart_coordinator(duration downtime);
  // Its machine is lost instead, without a word: nothing reaches it or leaves it any more, until
  // another one continues the job at its address.
  void lose_coordinator(duration downtime);
  // The next synchronization of its disk fails, so that it ends and is started again.
  void fail_disk(duration downtime) { disk_fails_for_ = downtime; }
  // Nothing more fits on its disk.
  void fill_disk(duration time) { disk_is_full_until_ = now + time; }
  // The coordinator does not end any more, if it has not yet.
  void spare_coordinator() {
    dies_for_.reset();
    disk_fails_for_.reset();
    is_lost_ = is_lost_ && is_down();
  }

  // Whether there is no coordinator now; and whether it was lost with its machine.
  [[nodiscard]] bool is_down() const { return now < down_until_; }
  [[nodiscard]] bool is_lost() const { return is_lost_; }

  // Runs until all scripts are done, or `limit` has passed.
  void run(duration limit);

  // Runs until `is_done`, checked after each step, or until `limit` has passed.
  void run(duration limit, std::function<bool()> const& is_done);

  // Runs for this long.
  void pass(duration time);

  // Replays the coordinator's inputs into another one, which must behave identically. Returns the
  // difference; empty if none.
  [[nodiscard]] std::string fault_of_recording() const;

  // The first difference between the coordinator and one loaded from its snapshot, of all steps so
  // far (habits::checks_snapshots); empty if none.
  [[nodiscard]] std::string const& fault_of_snapshots() const noexcept { return snapshot_fault_; }

  // The same as `fault_of_recording`, for a coordinator that is replaced this many times, at
  // random, by one loaded from its snapshot.
  [[nodiscard]] std::string fault_of_reloads(std::uint32_t reloads) const;

  // All live processes send Bye, and the network delivers it.
  void finish();

  time_point now{};
  duration delay_max{2ms};
  generator random;
  server::options options;
  memory_journal journal;
  server::dispatch coordinator;
  std::vector<std::unique_ptr<process>> processes;
  std::vector<std::unique_ptr<relay_process>> relays;
  std::vector<std::string> faults_of_relays;  // of the protocol of routes
  // Called for each new connection, to plan its faults.
  std::function<void(link&)> on_link;
  // Called when the coordinator ends, to be started again after this time.
  std::function<void(duration)> on_crash;
  // Called when the coordinator has ended the session of a relay.
  std::function<void(relay_process&)> on_relay_end;
  // Returns the bytes to deliver instead of these, which a process sent or will receive.
  using change = std::function<std::string(process&, link const&, std::string_view)>;
  change change_up;
  change change_down;

 private:
  bool step(time_point limit);
  void check_snapshot();
  void deliver_to_coordinator();
  [[nodiscard]] bool is_read(link& line);
  void hear_to_the_end(link const& line);
  [[nodiscard]] time_point next_read(link const& line) const;
  void deliver_to_processes();
  void run_relays();
  void run_plans();
  void take_from(process& p);
  void take_from_coordinator();
  void write_out(link& line, process& p);
  void write_to_late_readers();
  void open_link(process& p, std::size_t address);
  void link_opens(process& p, std::shared_ptr<link> const& line);
  [[nodiscard]] bool is_refused(process const& p, link const& line) const;
  void accept(link& line);
  void close_at_client(process& p, std::size_t address);
  [[nodiscard]] time_point next_event() const;
  [[nodiscard]] bool is_running(process const& p) const { return p.alive && p.paused_until <= now; }

  std::multimap<time_point, std::function<void()>> plans_;
  std::vector<std::pair<std::shared_ptr<link>, process*>> links_;
  // When in a loop iteration the coordinator is killed.
  enum class kill_point : std::uint8_t { before_commit, before_writing, while_writing };
  void commit();
  void synchronize();
  void die_after_commit();
  void crash();
  [[nodiscard]] link* observers_line();
  [[nodiscard]] bool observer_is_back();

  void watch_space();

  std::optional<duration> dies_for_;
  bool is_lost_{};  // it dies with its machine, or has; until another one continues
  std::optional<duration> disk_fails_for_;
  time_point disk_is_full_until_{};
  std::optional<bool> disk_is_full_{false};  // as reported to the coordinator
  kill_point dies_when_{};
  bool awaits_observer_{};
  time_point down_until_{};
  std::optional<time_point> synchronized_at_;
  time_point stalled_until_{};
  time_point refusing_until_{};
  std::uint64_t processes_seeded_{};
  std::uint64_t relays_seeded_{};
  std::uint64_t links_opened_{};
  std::vector<connection_id> dirty_;
  habits ways_;
  std::uint32_t steps_{};
  std::string snapshot_fault_;
};

}  // namespace coxswain::sim
