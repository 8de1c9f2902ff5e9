#pragma once
// The terms of a session: what the coordinator's HelloReply states, and the client's own options
// before and beside it. Not here: the valid ranges of a HelloReply (agent_terms).

#include "coxswain/client/agent/agent_messages.hpp"
#include "coxswain/core/model/messages.hpp"

#include <boost/algorithm/string/join.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace coxswain::detail {

class session_terms {
 public:
  explicit session_terms(agent_options const& o)
      : addresses_{boost::algorithm::join(o.addresses, ",")},
        hosted_by_task_{o.hosted_by_task},
        fence_after_{o.fence_after} {}

  // The session exists.
  void use(core::hello_answer stated) { stated_ = std::move(stated); }

  // It continues. False: the client has seen a higher term, so this coordinator was replaced.
  [[nodiscard]] bool resume(core::resume_answer const& stated);

  // Why `fence_after` contradicts what the coordinator states; none if it does not.
  [[nodiscard]] std::optional<std::string> contradiction(core::hello_answer const& stated) const;

  // None before the session exists. Its term is the highest one seen.
  [[nodiscard]] std::optional<core::hello_answer> const& stated() const noexcept { return stated_; }

  // The coordinator's addresses, as the user gives them.
  [[nodiscard]] std::string const& addresses() const noexcept { return addresses_; }

  // The coordinator, for people: "b12:8476 (in the process of task 0)".
  [[nodiscard]] std::string place() const;

  // How long one try to connect may take, in this round of them, counted from one.
  [[nodiscard]] duration attempt_max(std::uint32_t round) const;

  // The longest pause between rounds of tries to connect again. Needs a session.
  [[nodiscard]] duration pause_max() const;

  // Whether the session continues when what refuses connections now, the coordinator or a relay, is
  // started again.
  [[nodiscard]] bool may_return() const;

  // The following need a session.

  // The largest answer. Those that hold more than one value (a barrier's data, a listing, a
  // snapshot of the job) may be larger than the largest request.
  [[nodiscard]] std::size_t answer_bytes_max() const;

  // How long the session survives without a message from the coordinator; and while its address
  // refuses all connections. without_limit: for ever.
  [[nodiscard]] duration fence_after() const;
  [[nodiscard]] duration refused_max() const;

 private:
  // How long connecting again may take: as long as the tasks of a lost connection are spared, and
  // no longer than a silent one is.
  [[nodiscard]] duration time_to_resume() const;

  std::string addresses_;
  std::optional<std::uint32_t> hosted_by_task_;
  std::optional<duration> fence_after_;
  std::optional<core::hello_answer> stated_;
};

}  // namespace coxswain::detail
