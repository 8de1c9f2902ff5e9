#pragma once
// The messages for watchers: first the whole job, then changes, and the whole job again when the
// number of its tasks has changed. It numbers the changes it finds, and stores the last one of each
// task; so a watcher is only a position, and a slow one gets all missed changes in one message.
// Does no I/O and reads no clock. Not here: WebSocket (live_connection).

#include "coxswain/core/model/messages.hpp"
#include "coxswain/status/source/job_source.hpp"
#include "coxswain/status/text_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::status_page {

// The whole job, with the last events of each severity, where its coordinator listens, and when a
// recording begins and ends.
[[nodiscard]] std::string whole_job(core::snapshot const& job, core::why_answer const& why,
                                    core::events_answer const& events, std::string const& address,
                                    std::optional<recorded_time> const& recorded);
inline constexpr std::size_t events_at_first = 200;  // of each severity

class live_feed {
 public:
  // The position of a watcher.
  struct place {
    std::uint64_t change{};  // zero: nothing was sent yet
    std::uint64_t event{};
    std::uint64_t round{};
    friend bool operator==(place const&, place const&) = default;
  };

  // `events_after` returns the events after one, or the last ones of each severity, and the number
  // of the last.
  using event_source =
      std::function<core::events_answer(std::optional<std::uint64_t> after, std::size_t of_each)>;
  live_feed(text_pool& texts, event_source events_after, std::string address = {},
            std::optional<recorded_time> recorded = {})
      : texts_{texts},
        events_after_{std::move(events_after)},
        address_{std::move(address)},
        recorded_{recorded} {}

  // Takes the present snapshot, and the number of its last event. True if anything but the time has
  // changed.
  bool look(std::shared_ptr<core::snapshot const> now, std::shared_ptr<core::why_answer const> why,
            std::uint64_t last_event);

  // The next message for this watcher; advances its position. Null if there is none. After the
  // first look.
  [[nodiscard]] text_ptr next(place& at);

  // There is none.
  [[nodiscard]] bool is_current(place const& at) const {
    return at.change == change_ && at.event >= last_event_;
  }

 private:
  struct message {
    place from;
    place to;
    text_ptr text;
  };

  [[nodiscard]] std::uint64_t last_round() const;
  [[nodiscard]] message whole(place from) const;
  [[nodiscard]] message update(place from) const;

  text_pool& texts_;
  event_source events_after_;
  std::string address_;
  std::optional<recorded_time> recorded_;
  std::shared_ptr<core::snapshot const> job_;
  std::shared_ptr<core::why_answer const> why_;
  std::uint64_t change_{};
  std::uint64_t last_event_{};
  std::uint64_t whole_since_{};              // watchers before this change get the whole job
  std::vector<std::uint64_t> task_changed_;  // one for each task of `job_`
  std::uint64_t why_changed_{};
  std::uint64_t relays_changed_{};
  std::optional<message> last_made_;  // since the last look: most watchers have the same position
};

}  // namespace coxswain::status_page
