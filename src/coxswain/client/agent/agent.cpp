#include "coxswain/client/agent/agent.hpp"

#include "coxswain/client/agent/agent_text.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace coxswain::detail {
namespace {

// Before a session exists.
constexpr duration backoff_first = 10ms;
constexpr duration backoff_cap = 1s;
constexpr std::size_t hello_reply_bytes_max = 64 * 1024;

constexpr std::size_t answer_bytes_min = 128 * 1024 * 1024;

template <class T>
void swap_out(T& from, T& into) {
  into.clear();
  std::swap(from, into);
}

}  // namespace

agent::agent(agent_options options)
    : options_{std::move(options)},
      decoder_{hello_reply_bytes_max},
      backoff_{options_.seed, backoff_first, backoff_cap} {}

void agent::start(time_point now) {
  assert(phase_ == phase::idle);
  started_at_ = now;
  watch_outage(now);
  retry(now);
}

void agent::connected(time_point now) {
  if (phase_ != phase::connecting) return;
  phase_ = phase::greeting;
  refused_since_.reset();
  bytes_.clear();
  if (!session_) {
    decoder_ = wire::frame_decoder{hello_reply_bytes_max};
    send(now, options_.hello);
    return;
  }
  decoder_ = wire::frame_decoder{answer_bytes_max()};
  send_resume(now);
}

void agent::connect_failed(time_point now, status why, bool refused) {
  if (phase_ != phase::connecting) return;
  auto const* only = calls_.only();
  bool const leaves =
      only && std::holds_alternative<core::leave_args>(only->what) && only->id <= sent_through_;
  if (refused && leaves) {
    // All tasks have left, and the coordinator has gone (semantics D11).
    phase_ = phase::waiting;
    request_id const leave = only->id;
    calls_.take(leave);
    complete(leave, {});
    return end_quietly();
  }
  note_refusal(now, refused);
  phase_ = phase::waiting;
  if (refused && options_.hello.acts_for) {
    return give_up(
        {errc::unavailable,
         "the coxswain task process for which this program acts has ended: " + why.message()});
  }
  if (refused_until() <= now) return give_up(coordinator_gone());
  attempt_failed(now, std::move(why));
}

void agent::rejected(time_point now, status why) {
  if (phase_ == phase::up) return lost(now, std::move(why));
  if (phase_ != phase::connecting && phase_ != phase::greeting) return;
  if (session_) return attempt_failed(now, std::move(why));
  close_transport();
  give_up(std::move(why));
}

void agent::received(time_point now, std::string_view bytes) {
  if (!has_transport()) return;
  if (phase_ == phase::up) heard(now);
  decoder_.feed(bytes);
  while (has_transport()) {
    auto const frame = decoder_.next();
    if (!frame) return malformed(now, frame.error());
    if (!*frame) return;
    auto message = wire::decode_server(**frame);
    if (!message) return malformed(now, message.error());
    if (phase_ == phase::greeting) {
      greeted(now, *std::move(message));
    } else {
      incoming(now, *std::move(message));
    }
  }
}

void agent::write_progressed(time_point now) {
  if (phase_ != phase::up) return;
  heard_at_ = now;
  if (unanswered_since_) unanswered_since_ = now;
}

void agent::lost(time_point now, status why) {
  if (phase_ == phase::up) {
    disconnect(now, std::move(why));
  } else if (phase_ == phase::greeting) {
    attempt_failed(now, std::move(why));
  }
}

void agent::bye(time_point now, bool abandoned) {
  if (phase_ == phase::over) return;
  end_ = abandoned ? status{errc::cancelled, "the client was destroyed"}
                   : status{errc::failed_precondition, "this client has left the job"};
  complete_all(errc::cancelled, end_.message());
  if (has_transport()) send(now, core::bye_args{abandoned});
  close_transport();
  phase_ = phase::over;
}

void agent::advance(time_point now) {
  expire_calls(now);
  if (phase_ == phase::idle || phase_ == phase::over) return;
  if (!session_ && connect_until() <= now) return give_up(unreachable());
  if (session_ && deadline_after(heard_at_, fence_after()) <= now) return give_up(fenced());
  if (phase_ == phase::waiting && refused_until() <= now) return give_up(coordinator_gone());
  if (phase_ != phase::up && report_at_ <= now) report_unreachable(now);
  if (phase_ == phase::waiting) {
    if (retry_at_ <= now) open_transport(now);
  } else if (phase_ != phase::up) {
    if (attempt_until() > now) return;
    close_transport();
    refused_since_.reset();
    attempt_failed(now, {errc::unavailable, "no response to the connection attempt within " +
                                                text_of(now - attempt_at_)});
  } else if (silent_at() <= now) {
    close_transport();
    disconnect(now, {errc::unavailable, "the coordinator has not replied to heartbeats for " +
                                            text_of(now - *unanswered_since_)});
  } else {
    if (look_at_ <= now) look(now);
    if (heartbeat_at() <= now) send_heartbeat(now);
  }
}

std::optional<time_point> agent::next_deadline() const {
  auto next = time_point::max();
  if (auto const first = calls_.first_deadline()) next = expiry(*first);
  if (phase_ != phase::idle && phase_ != phase::over) {
    next = std::min(next, session_ ? deadline_after(heard_at_, fence_after()) : connect_until());
  }
  if (phase_ == phase::waiting) next = std::min({next, retry_at_, refused_until()});
  if (phase_ == phase::connecting || phase_ == phase::greeting) {
    next = std::min(next, attempt_until());
  }
  if (phase_ == phase::up) {
    next = std::min({next, heartbeat_at(), silent_at(), look_at_});
  } else if (phase_ != phase::idle && phase_ != phase::over) {
    next = std::min(next, report_at_);
  }
  if (next == time_point::max()) return std::nullopt;
  return next;
}

// Answers that hold more than one value (a barrier's data, a listing, a snapshot of the job) may be
// larger than the largest request.
std::size_t agent::answer_bytes_max() const {
  return std::max({std::size_t{session_->frame_bytes_max},
                   std::size_t{session_->value_bytes_max} + 64 * 1024, answer_bytes_min});
}

void agent::take_bytes(std::string& into) { swap_out(bytes_, into); }
void agent::take_commands(std::vector<agent_command>& into) { swap_out(commands_, into); }
void agent::take_completions(std::vector<agent_completion>& into) { swap_out(completions_, into); }
void agent::take_events(std::vector<agent_event>& into) { swap_out(events_, into); }

}  // namespace coxswain::detail
