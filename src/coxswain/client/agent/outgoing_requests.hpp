#pragma once
// The requests of a session, which outlive its connections: their ids, which are open and which
// were sent, what a new connection has to repeat or cancel, and the encoded bytes. Each open call
// is completed exactly once, unless it is taken. Not here: when to send, and deadlines (agent).

#include "coxswain/client/agent/agent_messages.hpp"
#include "coxswain/client/agent/call_table.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::detail {

class outgoing_requests {
 public:
  // The id of the next call. Ids rise.
  [[nodiscard]] request_id next_id() noexcept { return request_id{++last_id_.value}; }

  // The open calls.
  [[nodiscard]] call_table& calls() noexcept { return calls_; }
  [[nodiscard]] call_table const& calls() const noexcept { return calls_; }

  // Opens a call, which waits until it is sent.
  void add(open_call call);

  // The bytes of the open calls that were never sent.
  [[nodiscard]] std::size_t queued_bytes() const noexcept { return queued_bytes_; }
  [[nodiscard]] bool was_sent(request_id id) const noexcept { return id <= sent_through_; }

  // Sends an open call with the time that remains to it. False: it is too large, and completed.
  bool send_call(time_point now, request_id id, core::hello_answer const& terms);

  // Sends the first call behind the Hello, if it is a Join that asks for it (§1.2.11) and
  // is not too large for a handshake. Once: if there is no reply, it waits for that to the next
  // Hello.
  void send_with_hello();

  // The session exists: the time of joins begins, and what is queued is sent.
  void opened(time_point now, core::hello_answer const& terms);

  // Sends a message without an id: a handshake, a heartbeat, Cancel or Bye.
  void send(core::request what);

  // Sends a Resume, which lists the open calls that were sent, as far as it has room; others end
  // with UNAVAILABLE.
  void send_resume(core::hello_answer const& terms);

  // The coordinator's reply to it: repeats calls that it does not know, cancels others that nobody
  // wants, and sends those that are queued.
  void resumed(time_point now, core::resume_answer const& answer, core::hello_answer const& terms);

  // The call was taken, and is not sent; or it is cancelled when the handshake is answered.
  void forget_queued(open_call const& call) { queued_bytes_ -= call.bytes; }
  void cancel_when_up(request_id id) { cancelled_.push_back(id); }

  // A reply has arrived. Takes its call; none if it was cancelled, or was answered before.
  [[nodiscard]] std::optional<open_call> answered(request_id id);

  // Whether the call was answered, and its claim is not settled.
  [[nodiscard]] bool is_unclaimed(request_id id) const {
    auto const at = unclaimed_.find(id);
    return at != unclaimed_.end() && !at->second.by->is_settled();
  }
  // From now on such a call is one that was cancelled. Send the Cancel before.
  void abandon(request_id id);

  // Completes a call that was taken, or all open ones. `outcome_matters`: with UNAVAILABLE, state
  // whether it was sent.
  void complete(request_id call, core::answer what) {
    completions_.push_back({call, std::move(what)});
  }
  void complete(request_id call, status why) { complete(call, core::answer{std::move(why), {}}); }
  void complete_all(errc code, std::string const& text, bool outcome_matters = true);

  // The connection is gone, or there will be another: discards what was not written.
  void clear_bytes() noexcept { bytes_.clear(); }
  // The same for a handshake. Without a session, what was sent with it is queued again.
  void forget_handshake(bool has_session);

  [[nodiscard]] std::string& bytes() noexcept { return bytes_; }
  [[nodiscard]] std::string const& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::vector<agent_completion>& completions() noexcept { return completions_; }

 private:
  struct unclaimed_reply {
    std::uint64_t number{};  // among all replies
    std::shared_ptr<claim const> by;
  };

  void send(core::request what, std::uint64_t answered_through);
  void send_queued(time_point now, core::hello_answer const& terms);
  void forget_settled();
  std::uint64_t acknowledged();

  call_table calls_;
  request_id last_id_{};
  request_id sent_through_{};  // ids above were never sent
  std::uint64_t answered_through_{};
  std::uint32_t resumes_{};  // sent
  std::size_t queued_bytes_{};
  // Cancelled before the handshake is answered: named in a Resume, or sent with a Hello.
  std::vector<request_id> cancelled_;
  // Calls that were cancelled and answered nevertheless, and the last id at that time: the
  // coordinator may not know of it yet, and would treat their replies as wanted.
  std::map<request_id, request_id> crossed_;
  // Replies that have arrived, but not at their callers: neither they nor later ones are
  // acknowledged.
  std::map<request_id, unclaimed_reply> unclaimed_;
  std::string bytes_;
  std::vector<agent_completion> completions_;
};

}  // namespace coxswain::detail
