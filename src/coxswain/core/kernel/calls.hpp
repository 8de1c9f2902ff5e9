#pragma once
// Requests and their replies: immediate, or later, when a parked request completes. Not here:
// permissions (request_router), what a request waits for (the concerns), replies being sent
// (sessions).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/open_requests.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/model/reasons.hpp"

#include <array>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coxswain::core {

class calls {
 public:
  explicit calls(concerns& all) : concerns_{all} {}
  calls(calls const&) = delete;
  calls& operator=(calls const&) = delete;

  // Registers a concern in which requests wait, before the first request.
  concern_index add(waiting_concern& concern);
  [[nodiscard]] waiting_concern& at(parked const& p) const { return *waiting_[p.at.value]; }
  [[nodiscard]] std::vector<waiting_concern*> waiting_concerns() const;

  [[nodiscard]] answer_ptr share(status outcome) const;
  template <class Value>
  [[nodiscard]] answer_ptr share(Value value) const {
    auto made = make_ok_answer(std::move(value));
    if constexpr (!std::is_trivially_destructible_v<Value>) note_unsent(*made);
    return made;
  }

  // `keep`: the call changed state, so its reply is kept until the client acknowledges it.
  void answer_now(call const& c, answer_ptr what, bool keep);
  void refuse(call const& c, status why) { answer_now(c, share(std::move(why)), false); }
  template <auto Why, class... Arguments>
  void refuse(call const& c, Arguments const&... arguments) {
    refuse(c, fail<Why>(arguments...));
  }
  void answer_parked(ticket who, answer_ptr what);
  void answer_all(std::vector<ticket> const& tickets, answer_ptr const& what);
  // The same task repeats a waiting call: the newer call replaces the older one.
  void answer_superseded(ticket older);

  // The position of a request in its concern, which alone interprets it.
  struct position {
    std::uint64_t number{};
    rare_string name{};
  };

  // Parks the call until its timeout or until something else ends it.
  void park(call const& c, waiting_concern const& in, position where);
  template <std::derived_from<timed_concern> In>
  void park(call const& c, In const& in, position where, duration timeout) {
    park_until(c, in, std::move(where), timeout);
  }
  // Unparks the request without notifying its concern. Does nothing if it is not parked.
  std::optional<parked> unpark(ticket who);
  // Unparks the request and removes it from its concern. Does nothing if it is not parked.
  std::optional<parked> release(ticket who);
  // Returns undelivered items to the concerns that handed them over.
  void put_back(std::vector<undelivered> all);
  void deadline_due(time_point now, due_item const& item);

  // The concern that blocks its task; null if the task can continue.
  [[nodiscard]] blocking_concern const* blocking(parked const& p) const;
  // A get or a pop: any client can complete it.
  [[nodiscard]] bool is_read(parked const& p) const {
    return at(p).traits().blocks_for == blocking_calls::wait::for_anybody;
  }

  // Answers all waiting requests of the task, or those in one concern.
  void end_waits(task_id id, status const& why);
  void end_waits(task_id id, waiting_concern const& in, status const& why);
  // All but those in one concern.
  void end_waits_except(task_id id, waiting_concern const& in, status const& why);
  // Ends the waits that concern this task only, such as its gets and pops.
  void end_own_waits(task_id id);

  // The answer that states no more than success, which many share.
  [[nodiscard]] answer_ptr const& plain_ok() const noexcept { return plain_ok_; }

 private:
  void park_until(call const& c, waiting_concern const& in, position where, duration timeout);
  void note_unsent(answer const& what) const;
  void leave_count_barriers(task_id id);
  void answer_waits(task_id id, std::function<bool(parked const&)> const& chosen,
                    status const& why);

  concerns& concerns_;
  std::array<waiting_concern*, 24> waiting_{};
  std::uint8_t waiting_count_{};
  answer_ptr const plain_ok_ = make_answer({});
};

}  // namespace coxswain::core
