#pragma once
// Runs the agent: feeds it time, bytes and calls, and carries out its commands with transports, a
// timer and waiting calls. Shared by the client object and its background coroutines: `keep` lives
// as long as the session and owns the timer, `serve` opens and reads one transport. User code is
// never called from inside: completions and callbacks are posted. Not here: decisions (agent),
// sockets (transport), the public calls (client).
//
// Not thread-safe: everything happens on the executor's thread. May outlive the executor's context,
// after which it may only be destroyed: what belongs to Asio ends with the last coroutine.

#include "coxswain/base/sync_points.hpp"
#include "coxswain/client/agent/agent.hpp"
#include "coxswain/client/options.hpp"
#include "coxswain/client/waiter.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/spin.hpp"
#include "coxswain/net/transport.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coxswain::detail {

using progress_callback = std::function<void(core::barrier_progress const&)>;

// The event that completes a question.
struct question {
  enum class kind : std::uint8_t {
    call,     // the answer to `request`
    opened,   // the session, or why there is none
    failure,  // of the job, or the loss of the coordinator for good: a job_error
    stop,     // whether the task stops at `step`: a sync_point, or nothing
    ending,   // why the epoch is to end: epoch_ends, or nothing
  };

  explicit question(kind k) : what{k} {}
  explicit question(std::uint64_t step_reached) : what{kind::stop}, step{step_reached} {}
  question(core::request r, duration t) : request{std::move(r)}, timeout{t} {}

  kind what{kind::call};
  core::request request;
  duration timeout{};
  progress_callback on_progress;
  std::uint64_t step{};
  std::shared_ptr<claim> claimed_by;  // of a call
};

class connection : public std::enable_shared_from_this<connection> {
 public:
  // Where a question is kept.
  struct place {
    question::kind what{};
    std::uint64_t number{};
  };

  // Throws coxswain::error: what net::tls_context says of the files of `options.tls`.
  // `to`: the addresses of the coordinator.
  connection(asio::any_io_executor executor, client_options options,
             std::vector<net::endpoint> const& to);

  // Begins to connect. Once.
  void start();

  // Posts the answer to `who`. Errors are answers whose outcome is not OK.
  place ask(question q, std::unique_ptr<waiter> who);

  // Cancels a question: `who` gets operation_aborted. Ignored if it was answered.
  void cancel(place where);

  // Takes back what an answered call was handed, unless its claim is settled.
  void abandon(claim const& of);

  // Ends the session, if it has not ended. Open questions are answered with CANCELLED.
  void close(bool abandoned) noexcept;

  // The client object is destroyed: no further callbacks.
  void silence() noexcept { silent_ = true; }

  // Whether the task may have joined the job, and so must leave.
  void may_be_member(bool yes) noexcept { may_be_member_ = yes; }
  [[nodiscard]] bool may_be_member() const noexcept { return may_be_member_ && !is_dismissed(); }
  // It has left, because it is not in the next epoch of an elastic job.
  [[nodiscard]] bool is_dismissed() const noexcept { return agent_.is_dismissed(); }

  // The task of this process, also from other threads; none: an observer, or it has no number yet.
  [[nodiscard]] std::optional<task_id> task() const noexcept {
    std::int64_t const number = task_;
    return number < 0 ? std::nullopt : std::optional{task_id{number}};
  }

  // The epoch in which this process is a member, or was last, also from other threads; zero: none.
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] core::epoch_answer const& whole_epoch() const noexcept { return agent_.epoch(); }

  [[nodiscard]] client_options const& options() const noexcept { return options_; }
  [[nodiscard]] asio::any_io_executor const& executor() const noexcept { return executor_; }
  [[nodiscard]] coxswain::incarnation incarnation() const { return options_.incarnation.value(); }
  // It was drawn here, so that no other session can have it.
  [[nodiscard]] bool has_new_incarnation() const noexcept { return has_new_incarnation_; }
  [[nodiscard]] std::uint64_t reconnects() const noexcept { return agent_.reconnects(); }
  // Where the coordinator is, or was last.
  [[nodiscard]] net::endpoint address() const {
    return net::endpoint::parse(agent_.address()).value();
  }
  // The coordinator's HelloReply; none before the session exists.
  [[nodiscard]] std::optional<core::hello_answer> const& session() const noexcept {
    return agent_.session();
  }
  [[nodiscard]] core::role role() const noexcept {
    return agent_.session() ? agent_.session()->given : core::role::worker;
  }
  [[nodiscard]] std::uint32_t num_tasks() const noexcept {
    if (agent_.epoch().number > 0) return agent_.epoch().size;
    return agent_.session() ? agent_.session()->num_tasks : 0;
  }

 private:
  class departure;
  static time_point now() { return std::chrono::steady_clock::now(); }

  struct open_question {
    std::unique_ptr<waiter> who;
    std::shared_ptr<progress_callback> on_progress;
  };
  struct open_wait {
    question::kind what{};
    std::unique_ptr<waiter> who;
    std::uint64_t step{};
  };
  using self_ptr = std::shared_ptr<connection>;
  using transport = net::transport;
  using transport_ptr = std::shared_ptr<transport>;

  static asio::awaitable<void> keep(self_ptr self);
  static asio::awaitable<void> serve(self_ptr self, transport_ptr over, std::size_t address);
  static asio::awaitable<void> read(self_ptr self, transport_ptr over);
  static asio::awaitable<void> await_room(self_ptr self, transport_ptr over);

  void pump();
  void perform(agent_command what);
  void open(std::size_t address);
  void complete(agent_completion completion);
  void happened(agent_event& what);
  void freeze(std::uint64_t agreement);
  void agreed(core::answer const& what);
  void answer_stops();
  void ended();
  void answer_waits(question::kind what, core::answer const& with);
  void report_event(client_event::kind what, status why,
                    core::severity level = core::severity::warning);
  void report_event(core::barrier_progress what);
  void request_flush();
  void flush();
  void write_out();
  void spin_for_reply();
  void drop_transport();
  void drop_all();
  void reload_certificates() noexcept;
  void arm();
  void broke() noexcept;
  void detach() noexcept;

  asio::any_io_executor executor_;
  client_options options_;
  bool has_new_incarnation_;
  std::atomic<std::int64_t> task_;  // -1: none
  std::atomic<std::uint64_t> epoch_{};
  std::shared_ptr<net::tls_context const> certificates_;  // if TLS is used
  agent agent_;

  std::optional<asio::steady_timer> timer_;  // lives as long as `keep`
  time_point armed_for_{time_point::max()};
  transport_ptr transport_;                       // that is open
  std::map<std::size_t, transport_ptr> opening_;  // by address
  std::uint64_t attempts_{};
  net::spin spin_;

  std::string bytes_;  // taken from the agent, and written up to `written_`
  std::size_t written_{};
  bool flush_requested_{};
  bool write_blocked_{};

  std::unordered_map<std::uint64_t, open_question> calls_;  // by request id
  std::map<std::uint64_t, open_wait> waits_;
  std::uint64_t waits_count_{};
  std::optional<job_error> failure_;
  sync_points sync_points_;
  std::uint64_t frozen_for_{};
  std::uint64_t begins_{};    // the agreement that was announced and not handled yet
  std::uint64_t freezing_{};  // the call that reports our step; zero if there is none
  bool may_be_member_{};
  bool silent_{};

  // Kept for their capacity.
  std::vector<agent_command> commands_;
  std::vector<agent_completion> completions_;
  std::vector<agent_event> events_;
};

}  // namespace coxswain::detail
