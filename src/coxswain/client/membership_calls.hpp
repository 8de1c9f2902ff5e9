#pragma once
// PUBLIC. The calls of a client about who is in the job: the epochs of an elastic job, whose number
// of tasks changes, and the end of any job. Not here: joining and leaving (client).

#include "coxswain/client/client_calls.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace coxswain::detail {

template <class Client>
class membership_calls {
 public:
  // In an elastic job: this process can go on with other members. Waits until the next epoch
  // begins, in which its number may be another; until then it takes part in nothing. All members
  // must call it. CANCELLED (the job is resized, or a spare takes the place of this one, which is
  // to be preempted: it has left), DEADLINE_EXCEEDED (the text names those that have not called),
  // ABORTED (this process is no member any more: join again; or the job has failed),
  // FAILED_PRECONDITION (the job is not elastic).
  template <detail::token_for<coxswain::epoch>... Token>
  auto next_epoch(epoch_options const& options = {}, Token&&... token) {
    return self().start(self().calls_.next_epoch(options), std::forward<Token>(token)...);
  }

  // The epoch that this client received last; number zero: none. Needs no request.
  [[nodiscard]] coxswain::epoch epoch() const {
    return static_cast<Client const&>(*this).calls_.last_epoch();
  }

  // Why the present epoch is to end, or has ended; none if it goes on. Does not wait.
  template <detail::token_for<std::optional<epoch_end>>... Token>
  auto epoch_wanted(Token&&... token) {
    return self().start(self().calls_.epoch_wanted(), std::forward<Token>(token)...);
  }

  // The members of the present epoch. FAILED_PRECONDITION: the job is not elastic, or no epoch has
  // begun.
  template <detail::token_for<coxswain::epoch_members>... Token>
  auto epoch_members(call_options const& options = {}, Token&&... token) {
    return self().start(self().calls_.epoch_members(options), std::forward<Token>(token)...);
  }

  // The most tasks that the next epochs of an elastic job have. INVALID_ARGUMENT (fewer than its
  // minimum, or more than its maximum), FAILED_PRECONDITION (the job is not elastic).
  template <detail::token_for<void>... Token>
  auto resize(std::uint32_t num_tasks, call_options const& options = {}, Token&&... token) {
    return self().start(self().calls_.resize(num_tasks, options), std::forward<Token>(token)...);
  }

  // Ends the job at once: all calls fail with the reason, and all sessions end, also this one.
  // PERMISSION_DENIED: the token is not that of an operator.
  template <detail::token_for<void>... Token>
  auto stop_job(std::string_view reason = {}, call_options const& options = {}, Token&&... token) {
    return self().start(self().calls_.end_job(core::job_end::stop, reason, options),
                        std::forward<Token>(token)...);
  }

  // From now on nobody may join, and the job ends when all its tasks have left; a second call
  // changes nothing. PERMISSION_DENIED: the token is not that of an operator.
  template <detail::token_for<void>... Token>
  auto drain_job(std::string_view reason = {}, call_options const& options = {}, Token&&... token) {
    return self().start(self().calls_.end_job(core::job_end::drain, reason, options),
                        std::forward<Token>(token)...);
  }

 private:
  Client& self() { return static_cast<Client&>(*this); }
};

}  // namespace coxswain::detail
