#pragma once
// The calls that wait for an answer: their requests, deadlines, and the barriers in use. Lookup and
// the earliest deadline are O(1). Lists are sorted by id. Not here: what is sent and when (agent).

#include "coxswain/client/agent/claim.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coxswain::detail {

// An open call. The request is kept complete, since it may have to be sent again.
struct open_call {
  core::client_message message;
  duration timeout{};
  time_point deadline{};
  std::size_t bytes{};                      // its approximate size on the wire
  std::shared_ptr<claim const> claimed_by;  // null: its reply is acknowledged at once

  // When to report its wait, and how long until the next report. `asked`: the coordinator was asked
  // what it waits for and has not replied.
  time_point since{};
  time_point report_at{time_point::max()};
  duration report_every{};
  bool asked{};
};

class call_table {
 public:
  // Its id must be above those of all earlier calls, and `waits_at` false for a barrier.
  void add(open_call call);

  // Null if it is not open. Valid until something is added or taken.
  [[nodiscard]] open_call* find(request_id id);

  std::optional<open_call> take(request_id id);
  std::vector<open_call> take_all();

  // The call must be open and have no deadline.
  void set_deadline(request_id id, time_point deadline);

  // None if no call has a deadline.
  [[nodiscard]] std::optional<time_point> first_deadline() const;

  // Removes and returns the call with this id.
  open_call take_first();

  // Whether the task has a call of this barrier open.
  [[nodiscard]] bool waits_at(std::optional<task_id> task, std::string const& barrier) const;

  // The open calls with `after` < id <= `through`.
  [[nodiscard]] std::vector<request_id> ids(request_id after, request_id through) const;

  // Visits all, unordered. `visit` may neither add nor remove calls.
  template <class Visit>
  void each(Visit visit) {
    for (auto& [_, call] : calls_) visit(call);
  }

  [[nodiscard]] std::size_t size() const noexcept { return calls_.size(); }

  // The request of the only open call; null if there are more, or none.
  [[nodiscard]] core::client_message const* only() const;

 private:
  using place = std::pair<std::optional<task_id>, std::string>;

  open_call extract(std::unordered_map<request_id, open_call>::iterator at);

  std::unordered_map<request_id, open_call> calls_;
  std::set<std::pair<time_point, request_id>> deadlines_;  // of those that have one
  std::set<place> barriers_;
};

}  // namespace coxswain::detail
