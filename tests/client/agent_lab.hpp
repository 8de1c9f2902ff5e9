#pragma once
// An agent in virtual time; the test plays the coordinator. The agent's output is shown as one line
// of text, in the order: messages sent, commands, completions, events.

#include "coxswain/client/agent/agent.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace coxswain::test {

using detail::agent;
using detail::agent_command;
using detail::agent_completion;
using detail::agent_event;
using detail::agent_options;
namespace agent_events = detail::agent_events;

inline constexpr time_point t0{std::chrono::hours{1}};

inline status const connection_refused{errc::unavailable, "connection refused"};

// "#3 get k 300 s ack=2", "resume 1,3 ack=2", "heartbeat".
[[nodiscard]] std::string text_of(core::client_message const& message);

// The frame of a reply.
[[nodiscard]] std::string frame(request_id id, core::answer const& what);

// The HelloReply of these tests' coordinator: heartbeats every 10 s, timeout 30 s, grace 2 s, 4
// tasks, session 7.
[[nodiscard]] core::hello_answer hello_answer();

[[nodiscard]] core::answer answer_of(std::string value);
[[nodiscard]] core::answer goodbye(errc code, std::string reason, bool may_resume);
[[nodiscard]] core::answer unknown(std::vector<request_id> ids);

class agent_lab {
 public:
  explicit agent_lab(agent_options options = default_options());

  // Task 1 of the job, at "b12:8476".
  static agent_options default_options();

  // An agent with a session, at t0; its output so far has been taken.
  static agent_lab open(agent_options options = default_options());

  // Functions that act on the agent return the lab, so that an expectation can be on the same line.
  agent_lab& say(time_point now, core::answer const& what) { return reply(now, 0, what); }
  agent_lab& reply(time_point now, std::uint64_t id, core::answer const& what = {});
  agent_lab& lose(time_point now);
  agent_lab& connected(time_point now, std::size_t address = 0);
  agent_lab& call(time_point now, core::request what, duration timeout);

  // The transport opens, and the coordinator resumes the session.
  agent_lab& resume(time_point now, std::vector<request_id> not_held = {});

  // The agent's output since the last look.
  [[nodiscard]] std::string out();
  // The output after advancing the agent.
  [[nodiscard]] std::string advance(time_point now) {
    a.advance(now);
    return out();
  }

  // The messages in the output, decoded.
  [[nodiscard]] std::vector<core::client_message> const& messages() const { return messages_; }
  [[nodiscard]] std::vector<agent_completion> const& completions() const { return completions_; }
  [[nodiscard]] std::vector<agent_event> const& events() const { return events_; }

  agent a;

  // Whether `out` includes waiting queries and reports; most tests leave them out.
  bool shows_waits{};
  // Whether commands name their addresses: not for the default one.
  bool shows_addresses{};

 private:
  std::vector<core::client_message> messages_;
  std::vector<agent_completion> completions_;
  std::vector<agent_event> events_;
};

}  // namespace coxswain::test
