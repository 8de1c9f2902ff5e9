#pragma once
// A simulated process: an agent, the script that makes its calls, and its link.

#include "coxswain/client/agent/agent.hpp"
#include "tests/sim/network.hpp"
#include "tests/sim/script.hpp"

#include <coroutine>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace coxswain::sim {

using detail::agent;
using detail::agent_command;
using detail::agent_completion;
using detail::agent_event;
using detail::agent_options;
namespace agent_events = detail::agent_events;

class process;

// Awaits the reply to a call made earlier.
class pending_call {
 public:
  pending_call(process& by, request_id id) : by_{by}, id_{id} {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting);
  core::answer await_resume();

 private:
  process& by_;
  request_id id_;
  core::answer what_;
  friend class process;
};

class process {
 public:
  process(agent_options options, std::optional<task_id> id);

  // Calls, made at the process's current time.
  pending_call join(incarnation self, duration timeout = 300s);
  pending_call leave(duration timeout = 300s);
  pending_call barrier(std::string name, duration timeout = 300s);
  pending_call all_gather(std::string name, std::string data, duration timeout = 300s);
  pending_call put(std::string key, std::string value, bool overwrite = false);
  pending_call get(std::string key, duration timeout = 300s);
  pending_call try_get(std::string key);
  pending_call list(std::string directory);
  pending_call remove(std::string key);
  pending_call increment(std::string key, std::int64_t by);
  pending_call count_barrier(std::string name, std::uint32_t count);
  // Any other call; its timeout is `timeout`.
  pending_call ask(core::request what, duration timeout, std::optional<task_id> as = {});
  // A call that is not awaited, but can be cancelled.
  request_id begin(core::request what, duration timeout, std::optional<task_id> as = {});
  void cancel(request_id call);

  // Delivers the agent's replies and events to the process.
  void settle(time_point now);

  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  agent logic;
  std::vector<script> work;
  std::shared_ptr<link> line;                            // open, or being opened
  std::map<std::size_t, std::shared_ptr<link>> opening;  // by address
  relay_process* relay{};                                // whose process it is
  std::optional<task_id> task;
  std::size_t number{};  // among the processes of its world
  time_point now{};
  std::optional<duration> delay_max;  // none: that of the world
  bool alive{true};
  bool is_reported{};  // a relay has reported its end
  time_point paused_until{};
  std::optional<job_error> job_failure;
  std::optional<status> ended;
  std::size_t reconnected{};
  std::size_t completed_twice{};

  // Called with the events of this process, in order.
  struct listener {
    virtual ~listener() = default;
    virtual void called(process const& by, request_id id, core::request const& what,
                        duration timeout, std::optional<task_id> as) = 0;
    virtual void answered(process const& by, request_id id, core::answer const& what) = 0;
    virtual void cancelled(process const& by, request_id id) = 0;
    virtual void on_event(process& by, agent_event const& what) = 0;
  };
  listener* seen_by{};

 private:
  friend class pending_call;
  struct waiter {
    std::coroutine_handle<> resume;
    pending_call* call{};
  };

  pending_call make(core::request what, duration timeout);
  void see(agent_event const& e);
  void complete(agent_completion& c);

  std::unordered_map<request_id, waiter> waiting_;
  std::set<request_id> taken_back_;  // since it last settled: their replies may be in transit
  std::vector<agent_event> events_;
};

}  // namespace coxswain::sim
