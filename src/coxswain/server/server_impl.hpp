#pragma once
// The implementation of server. Included by server.cpp only.

#include "coxswain/net/gate.hpp"
#include "coxswain/net/poller.hpp"
#include "coxswain/net/readiness.hpp"
#include "coxswain/server/admission/admission.hpp"
#include "coxswain/server/connections.hpp"
#include "coxswain/server/dispatch.hpp"
#include "coxswain/server/durability_waits.hpp"
#include "coxswain/server/journal/file_journal.hpp"
#include "coxswain/server/journal/journal_watch.hpp"
#include "coxswain/server/server.hpp"
#include "coxswain/server/state_log.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

// Lives as long as its server and the coroutines that wait in it.
class server::impl final : public std::enable_shared_from_this<impl>, net::iteration_owner {
 public:
  impl(asio::io_context& io, options o, shared_job job);

  static asio::awaitable<void> serve(std::shared_ptr<impl> self);
  static asio::awaitable<void> wait_done(std::shared_ptr<impl> self);
  static asio::awaitable<status> wait_durable(std::shared_ptr<impl> self, time_point give_up_at);

  void run_context() { poller_.run(); }
  void stop(std::string reason);
  status suspend(std::string reason);
  status put_in(core::owner_input what);
  void ask_missing();
  void reload_certificates();
  void report(core::severity level, std::string_view text) noexcept;
  void close() noexcept;

  [[nodiscard]] std::vector<std::string> const& addresses() const {
    return admission_->addresses();
  }
  [[nodiscard]] core::snapshot look() const;
  [[nodiscard]] coxswain::server::statistics counted() const;
  [[nodiscard]] std::optional<job_error> error() const { return dispatch_.error(); }
  [[nodiscard]] std::string recording() const { return dispatch_.recording(); }
  [[nodiscard]] status journal_health() const;
  [[nodiscard]] core::coordinator const& logic() const { return dispatch_.logic(); }
  [[nodiscard]] bool is_serving() const {
    return is_started_ && !stop_by_ && !closed_ && !finished_.is_open();
  }

 private:
  time_point iteration_begins() noexcept override;
  void iteration_ends() noexcept override;

  void end_with(core::owner_input what);
  void begin_end();
  void end_on_request();
  void log_state();
  void look_after_journal();
  void watch_journal();
  [[nodiscard]] bool gathers_inputs();
  [[nodiscard]] bool make_durable();
  [[nodiscard]] status durability_of(std::uint64_t batch) const;
  [[nodiscard]] bool is_over() const { return closed_ || finished_.is_open(); }
  options with_log(options o);
  core_origin origin();
  void resume_job();
  void start();
  void serve_iteration();
  void settle();
  void trim_heap();
  void finish();
  void fail();
  void tear_down() noexcept;
  void release_waiters() noexcept;
  void reload_now_and_then() noexcept;
  [[nodiscard]] std::optional<time_point> next_deadline() const;

  options options_;
  time_point made_at_;
  std::optional<file_journal> journal_;
  shared_job job_;
  journal* log_{};         // either one; null: there is none
  std::string set_aside_;  // what became of the journal's previous job
  std::optional<journal_watch> watch_;
  std::optional<duration> downtime_;  // of a restored job, before this process
  dispatch dispatch_;
  net::poller poller_;
  std::optional<net::readiness> disk_;  // of the journal
  loop_iteration iteration_;
  connections connections_;
  std::optional<net::tls_context> certificates_;
  std::optional<time_point> reload_at_;
  std::optional<admission> admission_;  // always, once constructed
  net::gate finished_;
  net::gate job_done_;
  durability_waits waits_;
  state_log state_log_;
  std::optional<time_point> done_since_;
  std::optional<time_point> stop_by_;
  std::optional<time_point> commit_by_;  // at the latest
  std::optional<time_point> iteration_due_;
  time_point iteration_began_;
  coxswain::server::statistics counts_;  // as far as they are counted here
  bool is_started_{};
  bool in_iteration_{};
  bool closed_{};
  bool is_suspended_{};
  bool is_heap_trimmed_{};
};

}  // namespace coxswain::server
