#pragma once
// Requests and their answers: at once, or later, when what a parked request waits for has come.
// Not here: who may ask what (request_router), what a request waits for (the concerns), replies on
// their way (sessions).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/open_requests.hpp"
#include "coxswain/core/model/messages.hpp"

#include <array>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::core {

class calls {
 public:
  explicit calls(concerns& all) : concerns_{all} {}
  calls(calls const&) = delete;
  calls& operator=(calls const&) = delete;

  // A concern in which requests wait; all are there before the first request.
  concern_index add(waiting_concern& one);
  [[nodiscard]] waiting_concern& at(parked const& p) const { return *waiting_[p.at.value]; }
  [[nodiscard]] std::vector<waiting_concern*> waiting_concerns() const;

  [[nodiscard]] answer_ptr share(status outcome) const;
  template <class Value>
  [[nodiscard]] answer_ptr share(Value value) const {
    if constexpr (requires { bytes_of(value); }) note_unsent(bytes_of(value));
    return make_ok_answer(std::move(value));
  }

  // `keep`: the call changed something, so that its reply is kept until the client has it.
  void answer_now(call const& c, answer_ptr what, bool keep);
  void refuse(call const& c, status why) { answer_now(c, share(std::move(why)), false); }
  void answer_parked(ticket who, answer_ptr what);
  void answer_all(std::vector<ticket> const& tickets, answer_ptr const& what);
  // The same task asks again while it waits: the newer call has taken the older one's place.
  void answer_superseded(ticket older);

  // Where a request waits in its concern, which alone knows what that means.
  struct position {
    std::uint64_t number{};
    rare_string name{};
  };

  // The call waits from now on, until its timeout or until something else ends it.
  void park(call const& c, waiting_concern const& in, position where);
  template <std::derived_from<timed_concern> In>
  void park(call const& c, In const& in, position where, duration timeout) {
    park_until(c, in, std::move(where), timeout);
  }
  // Unparks the request without telling its concern. Nothing if it is not parked.
  std::optional<parked> unpark(ticket who);
  // Unparks the request and takes it from its concern. Nothing if it is not parked.
  std::optional<parked> release(ticket who);
  // What nobody received goes back to the concerns that handed it over.
  void put_back(std::vector<undelivered> all);
  void deadline_due(time_point now, due_item const& item);

  // Where its task may have to wait; null if that may go on.
  [[nodiscard]] blocking_concern const* blocking(parked const& p) const;
  // A get or a pop: whoever is there may answer it.
  [[nodiscard]] bool is_read(parked const& p) const {
    return at(p).traits().blocks_for == blocking_calls::wait::for_anybody;
  }

  // Answers all requests with which the task waits, or those in one concern.
  void end_waits(task_id id, status const& why);
  void end_waits(task_id id, waiting_concern const& in, status const& why);
  // Ends the waits that concern this task only, such as its gets and pops.
  void end_own_waits(task_id id);

 private:
  void park_until(call const& c, waiting_concern const& in, position where, duration timeout);
  void note_unsent(std::size_t bytes) const;
  void expect_all(std::vector<ticket> const& tickets, std::size_t i) const;
  void leave_count_barriers(task_id id);
  void answer_waits(task_id id, std::function<bool(parked const&)> const& chosen,
                    status const& why);

  concerns& concerns_;
  std::array<waiting_concern*, 16> waiting_{};
  std::uint8_t waiting_count_{};
  answer_ptr const plain_ok_ = make_answer({});
};

}  // namespace coxswain::core
