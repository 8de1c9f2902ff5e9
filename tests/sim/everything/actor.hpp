#pragma once
// A process of a simulated job with all operations: it joins its tasks, meets the others, and runs
// other scripts concurrently. The outcomes of its calls go to the history. Not here: its requests
// (requests) and faults (job).

#include "coxswain/base/sync_points.hpp"
#include "tests/sim/everything/history.hpp"
#include "tests/sim/everything/plan.hpp"
#include "tests/sim/world.hpp"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace coxswain::sim {

class job;

class actor : public process::listener {
 public:
  actor(job& of, process& body, process_record about);

  void start();

  // Starts nothing new from now on.
  [[nodiscard]] bool is_over() const { return is_over_ || !body.alive || body.logic.over(); }
  void give_up() { is_over_ = true; }

  // Leaves with all its tasks, permanently or to return, whatever they wait for.
  void begin_restart(bool returning);
  [[nodiscard]] bool restarts() const { return restarts_; }

  // Records a fault, which ends at a time or when the process is connected again.
  void in_trouble(std::optional<time_point> until = std::nullopt, bool is_of_relay = false,
                  bool is_no_fault = false);

  // Wakes a script after some time.
  class nap {
   public:
    nap(actor& by, duration time) : by_{by}, time_{time} {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) { by_.wake(waiting, by_.wakes_at(time_)); }
    void await_resume() const noexcept {}

   private:
    actor& by_;
    duration time_;
  };

  [[nodiscard]] nap sleep(duration time) { return {*this, time}; }

  // A call on behalf of a task, if given.
  [[nodiscard]] pending_call ask(core::request what, duration timeout,
                                 std::optional<task_id> task) {
    return body.ask(std::move(what), timeout, task);
  }

  // The tasks it acts for; a reply may end that.
  void joined(task_id task);
  void returned(task_id task) { joined_.insert(task); }
  void has_left(task_id task) { joined_.erase(task); }
  [[nodiscard]] bool acts_for(task_id task) const { return joined_.contains(task); }
  [[nodiscard]] std::set<task_id> const& tasks() const { return joined_; }

  // In an elastic job: it is a member for the first time; its number in its epoch, and whether that
  // is to end.
  void entered_job();
  [[nodiscard]] task_id rank() const;
  [[nodiscard]] bool sees_ending() const { return body.logic.ending().has_value(); }

  // Whether guests act for the task, and whether this is one of them.
  [[nodiscard]] bool hosts(task_id task);
  [[nodiscard]] bool is_guest() { return record().host.has_value(); }

  // Its connection is one to this relay, or is being opened; without a connection, the last one
  // that it tried.
  [[nodiscard]] bool is_at(relay_process const& relay) const {
    return body.line ? body.line->via == &relay : body.logic.address() == relay.address;
  }

  [[nodiscard]] process_record& record();
  [[nodiscard]] process_record const& record() const;
  // In an elastic job its task is the process, whatever its number.
  [[nodiscard]] sync_points& points(task_id task);
  [[nodiscard]] std::string unique_text();

  // process::listener
  void called(process const& by, request_id id, core::request const& what, duration timeout,
              std::optional<task_id> as) override;
  void answered(process const& by, request_id id, core::answer const& what) override;
  void cancelled(process const& by, request_id id) override;
  void on_event(process& by, agent_event const& what) override;

  job& in;
  process& body;

 private:
  void wake(std::coroutine_handle<> waiting, time_point at);
  [[nodiscard]] time_point wakes_at(duration after) const;
  void calm_down();
  // The number of its connection; zero while it has none.
  [[nodiscard]] std::uint64_t link_now() const { return body.line ? body.line->number : 0; }
  void freeze(std::uint64_t agreement);
  void start_script(script s);

  std::set<task_id> joined_;
  std::map<task_id, sync_points> points_;
  std::uint64_t epoch_of_points_{};
  std::unordered_map<request_id, std::size_t> calls_;  // their places in the history
  std::vector<std::uint64_t> troubled_links_;          // affected by the record's faults
  std::uint64_t texts_{};
  bool is_over_{};
  bool restarts_{};
};

}  // namespace coxswain::sim
