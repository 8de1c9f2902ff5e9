#pragma once
// The last events, numbered from one, for watches. Each severity has its own limits, and so has the
// job's failure: beyond a number and a sum of bytes its oldest are dropped. When more events than a
// limit differ only in task and numbers, each within a minute of the one before, one line
// represents all of them, also in the coordinator's log. Not here: calls that wait for the next one
// (watchers).

#include "coxswain/base/time.hpp"
#include "coxswain/base/wall_time.hpp"
#include "coxswain/core/model/event.hpp"
#include "coxswain/core/model/messages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace coxswain::core {

class event_log {
 public:
  // Of each severity; the last event is kept whatever its size is.
  struct limits {
    std::size_t events{};
    std::size_t bytes{};
    std::uint64_t alike{};  // more alike events than this become one line; 1/16 of consequences
  };

  // `started` is when the uptime of the coordinator was zero.
  event_log(limits most, wall_time started) : most_{most}, started_{started} {}

  // `at` is the uptime of the coordinator; `subject` is the part of the text that names the task.
  // Returns how the coordinator's log shows it: nothing for an event like many before it, unless
  // their number is a power of two; then the text says how many there were.
  std::optional<event> add(duration at, event what, std::string_view subject = {});

  // The number of the last event that is at least this severe; zero if there was none.
  [[nodiscard]] std::uint64_t last(severity at_least = severity::info) const noexcept {
    return last_[static_cast<std::size_t>(at_least)];
  }

  // How many lines after this event, at least this severe, are no longer kept.
  [[nodiscard]] std::uint64_t lost(std::uint64_t after, severity at_least) const noexcept;

  // The events after this one, or all that are kept; only those at least this severe, as many as
  // fit one reply. Without `after`, and with `last_of_each` above zero, only that many of each
  // severity.
  [[nodiscard]] events_answer since(std::optional<std::uint64_t> after, severity at_least,
                                    std::size_t last_of_each = 0) const;

  // The last one of this kind among the last ones of each severity.
  [[nodiscard]] std::optional<events_answer::entry> latest(event_kind kind) const;

  [[nodiscard]] std::size_t size() const noexcept;

  static void fields(auto& a, auto& s);

 private:
  // Events that differ only in task and numbers.
  struct run {
    std::string key;
    std::uint64_t first{};
    std::uint64_t count{};
    duration first_at{};
    duration last_at{};
    std::deque<std::uint64_t> lines;  // the numbers of those kept
    std::vector<bool> tasks;          // once one line represents all: the tasks they are about

    static void fields(auto& a, auto& s);
  };
  struct line {
    duration at;
    event what;
    std::shared_ptr<run> group;
  };
  using lines = std::map<std::uint64_t, line>;
  // The lines of one severity.
  struct history {
    event_log::lines lines;
    std::size_t bytes{};
    std::deque<std::uint64_t> dropped;  // the numbers of the last ones
  };
  static constexpr std::size_t job_failure = 3;  // after the severities
  static constexpr std::size_t histories = 4;

  // The one with `key_`.
  [[nodiscard]] std::size_t alike_max(event_kind kind) const;
  [[nodiscard]] std::shared_ptr<run> run_of(duration at, std::uint64_t number);
  static lines::node_type fold(run& all, history& of);
  static line const& add(lines& to, lines::node_type&& into, std::uint64_t number, duration at,
                         event const& what, std::shared_ptr<run> const& group);
  [[nodiscard]] static std::size_t bytes_of(line const& l);
  void drop_oldest(history& of);
  [[nodiscard]] events_answer::entry shown(std::uint64_t number, line const& l) const;

  limits most_;
  wall_time started_;
  std::array<std::uint64_t, 3> last_{};  // by severity
  std::array<history, histories> histories_;
  std::unordered_map<std::string, std::shared_ptr<run>> runs_;  // the latest of each key
  std::string key_;                                             // of the last event
};

}  // namespace coxswain::core
