// The agent's session: handshake, pushes, loss, signs of life, the end.

#include "coxswain/client/agent/agent.hpp"
#include "coxswain/client/agent/agent_terms.hpp"
#include "coxswain/client/agent/agent_text.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace coxswain::detail {
namespace {

// How long one try to connect may take: before the grace is known, and at least.
constexpr duration attempt_max = 10s;
constexpr duration attempt_min = 100ms;

constexpr duration backoff_cap_min = 10ms;

// Codes worth a retry, besides UNAVAILABLE.
bool transient(errc code) {
  return code == errc::resource_exhausted || code == errc::deadline_exceeded ||
         code == errc::cancelled || code == errc::aborted || code == errc::internal;
}

// The heartbeat period, or none at all if the coordinator wants no heartbeats.
duration period_of(core::hello_answer const& session) {
  duration const period = session.heartbeat_period > duration::zero()
                              ? session.heartbeat_period
                              : session.heartbeat_timeout / 3;
  return period > duration::zero() ? period : without_limit;
}

}  // namespace

void agent::send_resume(time_point now) {
  core::resume_args resume;
  resume.session = session_->session;
  resume.secret = session_->secret;
  resume.coordinator = session_->coordinator;
  resume.open = calls_.ids(request_id{}, sent_through_);
  for (auto const& [id, _] : crossed_) {
    resume.open.insert(std::lower_bound(resume.open.begin(), resume.open.end(), id), id);
    cancelled_.push_back(id);
  }
  send(now, resume);
  while (bytes_.size() > core::hello_frame_bytes_max) {
    for (auto n = resume.open.size() / 8 + 1; n > 0; --n) {
      request_id const left_out = resume.open.back();
      resume.open.pop_back();
      if (!calls_.take(left_out)) continue;
      complete(left_out, {errc::unavailable,
                          "outcome unknown: more requests were open when the connection was lost "
                          "than a Resume can name"});
    }
    bytes_.clear();
    send(now, resume);
  }
}

// The first frame on a connection.
void agent::greeted(time_point now, wire::server_message message) {
  auto& value = message.what.value;
  if (auto const* goodbye = std::get_if<core::goodbye>(&value)) return refused(now, *goodbye);
  auto* hello = std::get_if<core::hello_answer>(&value);
  if (hello && !session_) return hello_answered(now, std::move(*hello));
  auto const* resume = std::get_if<core::resume_answer>(&value);
  if (resume && session_) return resume_answered(now, *resume);
  malformed(now, {errc::invalid_argument, "the first message is not a reply to the handshake"});
}

void agent::hello_answered(time_point now, core::hello_answer answer) {
  if (auto const wrong = out_of_range(answer)) {
    return give_up(
        {errc::failed_precondition, "the peer at " + options_.address + " states " + *wrong +
                                        ": it is not a Coxswain coordinator; check the address"});
  }
  session_ = std::move(answer);
  went_up(now);
  if (options_.num_tasks && *options_.num_tasks != session_->num_tasks) {
    status const why{errc::failed_precondition,
                     "this process expects " + std::to_string(*options_.num_tasks) +
                         " tasks, but the job of the coordinator at " + options_.address + " has " +
                         std::to_string(session_->num_tasks)};
    give_up(why);
    return send(now, core::bye_args{});
  }
  backoff_.reset();
  backoff_.cap(std::max(session_->reconnect_grace / 4, backoff_cap_min));
  decoder_.limit(answer_bytes_max());
  events_.emplace_back(agent_events::opened{});
  send_queued(now);
}

void agent::resume_answered(time_point now, core::resume_answer const& answer) {
  went_up(now);
  ++reconnects_;
  events_.emplace_back(agent_events::reconnected{now - down_at_});
  for (request_id const id : answer.unknown) {
    if (id <= sent_through_ && calls_.find(id)) send_call(now, id);
  }
  for (request_id const id : cancelled_) {
    if (!std::binary_search(answer.unknown.begin(), answer.unknown.end(), id)) {
      send(now, core::cancel_args{id});
    }
  }
  cancelled_.clear();
  crossed_.clear();
  send_queued(now);
}

// A Goodbye instead of a handshake's answer.
void agent::refused(time_point now, core::goodbye const& what) {
  close_transport();
  bool const again = what.may_resume || what.why.code() == errc::unavailable ||
                     (!session_ && transient(what.why.code()));
  if (again) return attempt_failed(now, what.why);
  if (!session_) {
    status const why{what.why.code(), what.why.message() + " (reported by the coordinator at " +
                                          options_.address + ")"};
    return give_up(why);
  }
  parted(now, what);
}

void agent::incoming(time_point now, wire::server_message message) {
  if (message.id == request_id{}) return pushed(now, std::move(message.what));
  ++answered_through_;
  backoff_.reset();
  // All messages before the answered request have arrived.
  std::erase_if(crossed_, [&](auto const& one) { return one.second < message.id; });
  auto const call = calls_.take(message.id);
  if (!call) {
    crossed_.emplace(message.id, last_id_);
    return;
  }
  note_membership(*call, message.what);
  completions_.push_back({message.id, std::move(message.what)});
}

void agent::note_membership(open_call const& call, core::answer const& reply) {
  if (!call.message.task) return;
  if (std::holds_alternative<core::join_args>(call.message.what) && reply.outcome.ok()) {
    members_.insert(*call.message.task);
  } else if (std::holds_alternative<core::leave_args>(call.message.what)) {
    members_.erase(*call.message.task);
    leave_answered_ = true;
  }
}

void agent::pushed(time_point now, core::answer what) {
  if (auto* goodbye = std::get_if<core::goodbye>(&what.value)) {
    close_transport();
    parted(now, std::move(*goodbye));
  } else if (auto* error = std::get_if<job_error>(&what.value)) {
    events_.emplace_back(agent_events::job_failed{std::move(*error)});
  } else if (auto* progress = std::get_if<core::barrier_progress>(&what.value)) {
    if (!calls_.find(progress->request)) return;
    events_.emplace_back(agent_events::progressed{std::move(*progress)});
  } else if (auto const* waiting = std::get_if<core::waiting>(&what.value)) {
    answered(now, *waiting);
  } else if (auto const* freeze = std::get_if<core::freeze_request>(&what.value)) {
    events_.emplace_back(agent_events::freeze{freeze->agreement});
  } else if (std::holds_alternative<core::probe>(what.value)) {
    send_heartbeat(now);
  } else if (std::holds_alternative<core::hello_answer>(what.value) ||
             std::holds_alternative<core::resume_answer>(what.value)) {
    malformed(now, {errc::invalid_argument, "a second reply to the handshake"});
  }
}

// The coordinator has closed the session's connection, or ended the session.
void agent::parted(time_point now, core::goodbye what) {
  if (has_left()) return end_quietly();
  bool const again = what.may_resume;
  bool const restarted = what.restarted;
  status const why = what.why;
  events_.emplace_back(agent_events::parted{std::move(what)});
  outage_told_ = true;
  if (again) return disconnect(now, why);
  std::string text = "the coordinator at " + place();
  text += restarted ? " was restarted; its keys and barriers are gone"
                    : " has ended the session: " + why.text();
  // The outcome of calls was lost with their coordinator.
  give_up({errc::unavailable, std::move(text)}, !restarted);
}

void agent::malformed(time_point now, status const& why) {
  bool const was_up = phase_ == phase::up;
  close_transport();
  if (!was_up) {
    return attempt_failed(
        now, {errc::unavailable, "the peer does not speak the protocol: " + why.message()});
  }
  give_up({errc::unavailable, "the coordinator at " + options_.address +
                                  " sent an invalid message: " + why.message()});
}

void agent::heard(time_point now) {
  heard_at_ = now;
  unanswered_since_.reset();
}

void agent::went_up(time_point now) {
  phase_ = phase::up;
  up_at_ = now;
  sent_at_ = now;
  heard(now);
  outage_told_ = false;
  last_error_ = {};
}

// The transport that was up is gone.
void agent::disconnect(time_point now, status why) {
  phase_ = phase::waiting;
  if (has_left()) return end_quietly();
  if (!outage_told_) events_.emplace_back(agent_events::disconnected{why});
  outage_told_ = true;
  watch_outage(now);
  tries_ = 0;
  if (now - up_at_ > backoff_.cap()) backoff_.reset();
  attempt_failed(now, std::move(why));
}

void agent::attempt_failed(time_point now, status why) {
  bytes_.clear();
  cancelled_.clear();
  last_error_ = std::move(why);
  retry(now);
}

void agent::retry(time_point now) {
  retry_at_ = now + backoff_.next();
  phase_ = phase::waiting;
  if (retry_at_ <= now) open_transport(now);
}

void agent::open_transport(time_point now) {
  phase_ = phase::connecting;
  attempt_at_ = now;
  ++tries_;
  commands_.push_back(agent_command::open);
}

// If there is one, or one is being opened.
void agent::close_transport() {
  if (!has_transport() && phase_ != phase::connecting) return;
  phase_ = phase::waiting;
  commands_.push_back(agent_command::close);
}

// The requested end.
void agent::end_quietly() {
  close_transport();
  bytes_.clear();
  end_ = {errc::failed_precondition, "this client has left the job"};
  complete_all(errc::cancelled, end_.message());
  phase_ = phase::over;
}

// The unrequested end.
void agent::give_up(status why, bool outcome_matters) {
  if (has_left()) return end_quietly();
  close_transport();
  bytes_.clear();
  complete_all(errc::unavailable, why.message(), outcome_matters);
  phase_ = phase::over;
  end_ = std::move(why);
  events_.emplace_back(agent_events::ended{end_});
}

void agent::send_heartbeat(time_point now) {
  send(now, std::monostate{});
  heartbeat_sent_at_ = now;
  if (!unanswered_since_) unanswered_since_ = now;
}

status agent::unreachable() const {
  return {errc::deadline_exceeded,
          "no coordinator could be reached at " + place() + " within " +
              text_of(options_.connect_timeout) + " (" + std::to_string(tries_) +
              (tries_ == 1 ? " try" : " tries") + "); last error: " +
              (last_error_.ok() ? "no response to the connection attempt" : last_error_.text())};
}

status agent::fenced() const {
  std::string text =
      "no message from the coordinator at " + place() + " for " + text_of(fence_after());
  if (!last_error_.ok()) text += "; last error: " + last_error_.text();
  return {errc::unavailable, std::move(text)};
}

bool agent::has_transport() const noexcept {
  return phase_ == phase::greeting || phase_ == phase::up;
}

time_point agent::connect_until() const {
  return deadline_after(started_at_, options_.connect_timeout);
}

time_point agent::attempt_until() const {
  duration const longest =
      session_ ? std::max(session_->reconnect_grace / 2, attempt_min) : attempt_max;
  return deadline_after(attempt_at_, longest);
}

time_point agent::heartbeat_at() const {
  auto const period = period_of(*session_);
  if (unanswered_since_) return deadline_after(heartbeat_sent_at_, period);
  return deadline_after(std::min(sent_at_, heard_at_), period);
}

time_point agent::silent_at() const {
  auto const period = period_of(*session_);
  if (!unanswered_since_ || period == without_limit) return time_point::max();
  return deadline_after(*unanswered_since_, period + period / 2);
}

duration agent::fence_after() const {
  duration const after = options_.fence_after.value_or(session_->heartbeat_timeout);
  return after > duration::zero() ? after : without_limit;
}

}  // namespace coxswain::detail
