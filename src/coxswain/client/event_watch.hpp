#pragma once
// PUBLIC. The coordinator's events, one by one, in a coroutine:
//
//   event_watch events{job, core::severity::warning};
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
  explicit event_watch(client& of, core::severity at_least = core::severity::info)
      : client_{of}, at_least_{at_least} {}

  // The next event; none if there is none within `timeout`. One call at a time. Errors of every
  // call of the client; UNAVAILABLE: the coordinator stops. After a cancelled or failed call, the
  // next one continues after the last event returned.
  asio::awaitable<std::optional<core::events_answer::entry>> next(
      time_limit timeout = without_limit);

  // How many events the coordinator dropped before they could be returned.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

 private:
  client& client_;
  core::severity at_least_;
  std::optional<std::uint64_t> through_;
  std::uint64_t lost_{};
  core::events_answer batch_;
  std::size_t given_{};  // of the batch
};

}  // namespace coxswain
