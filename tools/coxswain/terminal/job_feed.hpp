#pragma once
// Keeps a picture of a job fresh: asks its coordinator again and again, says when it does not
// answer and connects again when it has gone. Not here: what the picture looks like.

#include "options/remote.hpp"
#include "terminal/job_view.hpp"

#include "coxswain/client/client.hpp"
#include "coxswain/net/asio.hpp"

#include <functional>
#include <optional>
#include <string>

namespace coxswain::tools {

// Asks for everything, and for the events after `events_through`.
asio::awaitable<void> look_at(client& c, job_view& into,
                              std::optional<std::uint64_t>& events_through);

class job_feed {
 public:
  // `changed` is told whenever the picture has changed. It may call stop(), but not destroy this.
  // Both must outlive the io_context's run.
  job_feed(asio::io_context& io, remote_options from, duration interval,
           std::function<void()> changed);

  // Goes on until stop(). Throws program_error: at first nobody is there, or we are refused.
  asio::awaitable<void> run();

  // Ends the session; run() returns soon.
  void stop();

  // `now` is for how long nobody has answered.
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
  bool is_news_{};  // somebody waits for nothing: ask now
  job_view view_;
  std::optional<std::uint64_t> events_through_;
  std::optional<time_point> lost_at_;
};

}  // namespace coxswain::tools
