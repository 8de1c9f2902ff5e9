#pragma once
// PUBLIC. The coordinator's events, one by one:
//
//   event_watch events{job, severity::warning};
//   while (auto const e = co_await events.next()) log(e->what.text);
//
// It begins with the oldest event that the coordinator keeps. Between calls, events wait at the
// coordinator, for as long as it keeps them. Not here: one batch (client::watch_events).

#include "coxswain/client/client.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace coxswain {

class event_watch {
 public:
  // The client must outlive it. Less severe events are left out.
  explicit event_watch(client& of, severity at_least = severity::info)
      : client_{of}, at_least_{at_least} {}

  // The next event; none if there is none within the timeout. One call at a time. Errors of every
  // call of the client; UNAVAILABLE: the coordinator stops. After a cancelled or failed call, the
  // next one continues after the last event returned. Completion tokens as for the calls of the
  // client.
  template <detail::token_for<std::optional<logged_event>>... Token>
  auto next(watch_options const& options = {}, Token&&... token) {
    return detail::initiate(detail::initiation{client_.get_executor()},
                            next_within(options.timeout), std::forward<Token>(token)...);
  }

  // How many events the coordinator dropped before they could be returned.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

 private:
  asio::awaitable<std::optional<logged_event>> next_within(duration timeout);

  client& client_;
  severity at_least_;
  std::optional<std::uint64_t> through_;
  std::uint64_t lost_{};
  events_result batch_;
  std::size_t given_{};  // of the batch
};

}  // namespace coxswain
