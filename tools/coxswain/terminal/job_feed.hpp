#pragma once
// Keeps a snapshot of a job up to date: polls its coordinator, reports when it does not answer, and
// reconnects when it has gone. Not here: its presentation.

#include "options/remote.hpp"
#include "terminal/job_view.hpp"

#include "coxswain/client/client.hpp"
#include "coxswain/net/asio.hpp"

#include <functional>
#include <optional>
#include <string>

namespace coxswain::tools {

// Asks for everything, and for the events after `events_through`.
asio::awaitable<void> refresh(client& c, job_view& into,
                              std::optional<std::uint64_t>& events_through);

class job_feed {
 public:
  // `changed` is called whenever the snapshot has changed. It may call stop(), but not destroy
  // this. Both must outlive the io_context's run.
  job_feed(asio::io_context& io, remote_options from, duration interval,
           std::function<void()> changed);

  // Runs until stop(). Throws program_error: initially no coordinator is reachable, or it refuses
  // us.
  asio::awaitable<void> run();

  // Ends the session; run() returns soon.
  void stop();

  // With its ages as of `now`, as long as the coordinator answers.
  [[nodiscard]] job_view const& view(time_point now);

 private:
  [[nodiscard]] client_options options();
  void happened(client_event const& what);
  void unreachable(std::string why);
  asio::awaitable<void> follow();
  asio::awaitable<void> connect_again();
  asio::awaitable<void> await_failure();
  asio::awaitable<void> rest(duration length);

  remote_options from_;
  duration interval_;
  std::function<void()> changed_;
  asio::steady_timer timer_;
  client client_;
  bool is_stopping_{};
  bool has_update_{};  // poll now instead of waiting
  job_view view_;
  std::optional<std::uint64_t> events_through_;
  time_point aged_through_{};
};

}  // namespace coxswain::tools
