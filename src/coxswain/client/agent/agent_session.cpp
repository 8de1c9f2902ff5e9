// The agent's session: handshake, pushes, loss, signs of life, the end.

#include "coxswain/client/agent/agent.hpp"
#include "coxswain/client/agent/agent_terms.hpp"
#include "coxswain/client/agent/agent_text.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace coxswain::detail {
namespace {

// If there are several addresses: between tries of a round, and for a handshake in the first round.
constexpr duration between_tries = 100ms;
constexpr duration handshake_first = 1s;
constexpr std::uint32_t handshake_doubled_max = 16;

// An attempt to connect without an answer for this long is reported instead of the last error.
constexpr duration slow_attempt = 1s;

// Codes worth a retry, besides UNAVAILABLE.
bool transient(errc code) {
  return code == errc::resource_exhausted || code == errc::deadline_exceeded ||
         code == errc::cancelled || code == errc::aborted || code == errc::internal;
}

}  // namespace

// The first frame on a connection.
void agent::greeted(time_point now, wire::server_message message) {
  auto& value = message.what.value;
  if (auto const* goodbye = std::get_if<core::goodbye>(&value)) return refused(now, *goodbye);
  auto* hello = std::get_if<boxed<core::hello_answer>>(&value);
  if (hello && !session()) return hello_answered(now, std::move(**hello));
  auto const* resume = std::get_if<core::resume_answer>(&value);
  if (resume && session()) return resume_answered(now, *resume);
  malformed(now, {errc::invalid_argument, "the first message is not a reply to the handshake"});
}

void agent::hello_answered(time_point now, core::hello_answer answer) {
  if (auto const wrong = out_of_range(answer)) {
    return give_up(
        {errc::failed_precondition, "the peer at " + address() + " states " + *wrong +
                                        ": it is not a Coxswain coordinator; check the address"});
  }
  if (auto const why = terms_.contradiction(answer)) {
    return give_up({errc::invalid_argument, *why});
  }
  terms_.use(std::move(answer));
  life_.use(*session());
  went_up(now);
  backoff_.reset();
  backoff_.cap(terms_.pause_max());
  decoder_.limit(terms_.answer_bytes_max());
  events_.emplace_back(agent_events::opened{});
  requests_.calls().each([&](open_call& call) {
    if (std::holds_alternative<core::join_args>(call.message.what)) waits_.begin(now, call);
  });
  requests_.opened(now, *session());
}

void agent::resume_answered(time_point now, core::resume_answer const& answer) {
  if (!terms_.resume(answer)) {
    close_transport();
    return attempt_failed(now, current_, replaced(answer.term));
  }
  life_.use(*session());
  went_up(now);
  ++reconnects_;
  events_.emplace_back(agent_events::reconnected{outage_.length(now)});
  requests_.resumed(now, answer, *session());
}

// A Goodbye instead of a handshake's answer.
void agent::refused(time_point now, core::goodbye const& what) {
  if (what.why.ok()) return malformed(now, {errc::invalid_argument, "a Goodbye without a reason"});
  close_transport();
  bool const again = what.may_resume || what.why.code() == errc::unavailable ||
                     (!session() && transient(what.why.code()));
  candidates_.hint(current_, what.address);
  // A coordinator that does not serve the job now is a coordinator (§4.2).
  if (what.may_resume && what.why.code() == errc::unavailable) life_.heard(now);
  if (again) return attempt_failed(now, current_, what.why);
  if (!session()) {
    status const why{what.why.code(),
                     what.why.message() + " (reported by the coordinator at " + address() + ")"};
    return give_up(why, false);
  }
  goodbye_received(now, what);
}

void agent::incoming(time_point now, wire::server_message message) {
  if (message.id == request_id{}) return pushed(now, std::move(message.what));
  backoff_.reset();
  auto const call = requests_.answered(message.id);
  if (!call) return;
  joined_.note(*call, message.what);
  auto const* const joined = std::get_if<core::join_answer>(&message.what.value);
  bool const has_number = joined && joined->task;
  if (has_number) options_.task = joined->task;
  note_volatile(*call, message.what);
  note_epoch(message.what);
  requests_.complete(message.id, std::move(message.what));
  // Acknowledges it at once: until then the number could go to another process.
  if (has_number) send_heartbeat(now);
}

void agent::note_volatile(open_call const& call, core::answer const& reply) {
  auto const* const stored = std::get_if<core::stored_answer>(&reply.value);
  auto const* const put = std::get_if<core::put_args>(&call.message.what);
  if (stored == nullptr || put == nullptr || !stored->is_volatile) return;
  events_.emplace_back(
      agent_events::notice{"the value of key '" + put->key +
                           "' is volatile: the key is gone when another coordinator takes over"});
}

void agent::note_epoch(core::answer const& what) {
  auto const* epoch = std::get_if<core::epoch_answer>(&what.value);
  auto const* const joined = std::get_if<core::join_answer>(&what.value);
  if (joined && joined->epoch) epoch = &*joined->epoch;
  if (!epoch) return;
  // Without tasks: this one is not in the next epoch.
  if (epoch->size == 0) return joined_.dismiss();
  if (epoch->number <= epoch_.number) return;
  epoch_ = *epoch;
  ending_.reset();
  options_.task = epoch->rank;
  joined_.renumber(epoch->rank);
}

void agent::pushed(time_point now, core::answer what) {
  note_epoch(what);
  if (auto* goodbye = std::get_if<core::goodbye>(&what.value)) {
    close_transport();
    goodbye_received(now, std::move(*goodbye));
  } else if (auto* error = std::get_if<job_error>(&what.value)) {
    events_.emplace_back(agent_events::job_failed{std::move(*error)});
  } else if (auto* progress = std::get_if<core::barrier_progress>(&what.value)) {
    if (!requests_.calls().find(progress->request)) return;
    events_.emplace_back(agent_events::progressed{std::move(*progress)});
  } else if (auto const* waiting = std::get_if<core::waiting>(&what.value)) {
    waits_.answered(now, requests_.calls(), *waiting, events_);
  } else if (auto const* freeze = std::get_if<core::freeze_request>(&what.value)) {
    events_.emplace_back(agent_events::freeze{freeze->agreement});
  } else if (auto* ends = std::get_if<core::epoch_ends>(&what.value)) {
    if (ends->epoch == epoch_.number) ending_ = std::move(*ends);
  } else if (auto* stacks = std::get_if<core::stacks_wanted>(&what.value)) {
    events_.emplace_back(agent_events::stacks_wanted{std::move(*stacks)});
  } else if (std::holds_alternative<core::probe>(what.value)) {
    send_heartbeat(now);
  } else if (std::holds_alternative<boxed<core::hello_answer>>(what.value) ||
             std::holds_alternative<core::resume_answer>(what.value)) {
    malformed(now, {errc::invalid_argument, "a second reply to the handshake"});
  }
}

// The coordinator has closed the session's connection, or ended the session.
void agent::goodbye_received(time_point now, core::goodbye what) {
  if (joined_.have_left()) return end_quietly();
  bool const again = what.may_resume;
  bool const restarted = what.restarted;
  status const why = what.why;
  candidates_.hint(current_, what.address);
  events_.emplace_back(agent_events::goodbye_received{std::move(what)});
  outage_.announce();
  if (again) return disconnect(now, why);
  std::string text = "the coordinator at " + terms_.place();
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
        now, current_,
        {errc::unavailable, "the peer does not speak the protocol: " + why.message()});
  }
  give_up({errc::unavailable,
           "the coordinator at " + address() + " sent an invalid message: " + why.message()});
}

void agent::went_up(time_point now) {
  bool const is_behind_relay = candidates_.are_several() && candidates_.is_local(current_);
  life_.watch_closely(is_behind_relay || options_.hello.relay);
  phase_ = phase::up;
  up_at_ = now;
  rounds_ = 0;
  candidates_.serves(current_);
  life_.sent(now);
  life_.heard(now);
  outage_.end();
}

// The transport that was up is gone.
void agent::disconnect(time_point now, status why) {
  phase_ = phase::waiting;
  if (joined_.have_left()) return end_quietly();
  if (!outage_.is_announced()) events_.emplace_back(agent_events::disconnected{why});
  outage_.announce();
  outage_.begin(now);
  // Questions on the old connection are no longer answered.
  requests_.calls().each([](open_call& call) { call.asked = false; });
  if (now - up_at_ > backoff_.cap()) backoff_.reset();
  attempt_failed(now, current_, std::move(why));
}

void agent::attempt_failed(time_point now, std::size_t address, status why, bool refused) {
  candidates_.failed(address, refused);
  outage_.note_refusal(now, candidates_.all_refuse());
  outage_.failed(std::move(why));
  requests_.clear_bytes();
  requests_.forget_handshake(session().has_value());
  phase_ = candidates_.oldest() ? phase::connecting : phase::waiting;
  if (waits_for_round_) return candidates_.begin_round();
  if (candidates_.has_next()) return open_next(now);
  begin_round(now);
}

// Those that were never answered.
void agent::expire_attempts(time_point now) {
  while (phase_ == phase::greeting ? handshake_until_ <= now : attempts_until() <= now) {
    std::size_t const which = candidates_.oldest().value();
    duration const waited = now - candidates_.tried_at(which);
    status const why{errc::unavailable, missing_answer(which) + " within " + text_of(waited)};
    commands_.push_back({agent_command::kind::close, which});
    attempt_failed(now, which, why);
  }
}

void agent::begin_round(time_point now) {
  phase_ = candidates_.oldest() ? phase::connecting : phase::waiting;
  candidates_.begin_round();
  ++rounds_;
  waits_for_round_ = true;
  next_at_ = now + backoff_.next();
  if (next_at_ <= now) open_next(now);
}

// None is left while all listed addresses are being tried and one that is not listed has failed.
void agent::open_next(time_point now) {
  waits_for_round_ = false;
  if (!candidates_.has_next()) {
    next_at_ = time_point::max();
    return;
  }
  phase_ = phase::connecting;
  outage_.tried();
  commands_.push_back({agent_command::kind::open, candidates_.try_next(now)});
  next_at_ = candidates_.has_next() ? now + between_tries : time_point::max();
}

// If there is one, or one is being opened.
void agent::close_transport() {
  if (!has_transport() && phase_ != phase::connecting) return;
  phase_ = phase::waiting;
  for (std::size_t const index : candidates_.tried()) {
    commands_.push_back({agent_command::kind::close, index});
  }
}

// The requested end.
void agent::end_quietly() {
  close_transport();
  requests_.clear_bytes();
  end_ = {errc::failed_precondition, "this client has left the job"};
  requests_.complete_all(errc::cancelled, end_.message());
  phase_ = phase::over;
}

// The unrequested end.
void agent::give_up(status why, bool outcome_matters) {
  if (joined_.have_left()) return end_quietly();
  close_transport();
  requests_.clear_bytes();
  requests_.complete_all(errc::unavailable, why.message(), outcome_matters);
  phase_ = phase::over;
  end_ = std::move(why);
  events_.emplace_back(agent_events::ended{end_});
}

void agent::send_heartbeat(time_point now) {
  send(now, std::monostate{});
  life_.heartbeat_sent(now);
}

// The reply that the attempt at this address is still waiting for.
std::string agent::missing_answer(std::size_t address) const {
  if (phase_ == phase::greeting) {
    return "connected, but no reply to the greeting of a Coxswain client";
  }
  switch (candidates_.stage(address)) {
    case attempt_stage::resolving: return "no answer from the name server";
    case attempt_stage::connecting: return "no response to the connection attempt";
    case attempt_stage::tls_handshake: return "connected, but no reply to the TLS handshake";
  }
  return {};
}

// Why there is no connection: the missing reply if the current attempt is slow, else the last
// error.
status agent::obstacle(time_point now) const {
  auto const first = candidates_.oldest();
  auto const& last = outage_.last_error();
  bool const is_slow = first && now - candidates_.tried_at(*first) >= slow_attempt;
  if (first && (last.ok() || is_slow)) return {errc::unavailable, missing_answer(*first)};
  return last;
}

status agent::unreachable(time_point now) const {
  return {errc::deadline_exceeded, "no coordinator could be reached at " + terms_.place() +
                                       " within " + text_of(options_.connect_timeout) + " (" +
                                       outage_.tries_text() +
                                       "); last error: " + obstacle(now).text()};
}

status agent::fenced() const {
  std::string text = "no message from the coordinator at " + terms_.place() + " for " +
                     text_of(terms_.fence_after());
  if (!outage_.last_error().ok()) text += "; last error: " + outage_.last_error().text();
  return {errc::unavailable, std::move(text)};
}

status agent::replaced(std::uint64_t term) const {
  return {errc::unavailable, "the coordinator at " + address() + " has term " +
                                 std::to_string(term) + ", and was replaced by that of term " +
                                 std::to_string(session()->term)};
}

void agent::coordinator_gone() {
  if (only_waits_to_leave()) return leave_unanswered();
  give_up({errc::unavailable,
           "the coordinator at " + terms_.place() + " is gone: " +
               (candidates_.are_several() ? "its addresses have" : "its address has") +
               " refused all connections for " + text_of(session()->coordinator_return)});
}

bool agent::only_waits_to_leave() const {
  auto const* const only = requests_.calls().only();
  return only && std::holds_alternative<core::leave_args>(only->what) &&
         requests_.was_sent(only->id);
}

void agent::leave_unanswered() {
  request_id const leave = requests_.calls().only()->id;
  requests_.calls().take(leave);
  requests_.complete(leave, status{});
  end_quietly();
}

bool agent::has_transport() const noexcept {
  return phase_ == phase::greeting || phase_ == phase::up;
}

// When the first of the transports that are being opened has taken too long.
time_point agent::attempts_until() const {
  auto const first = candidates_.oldest();
  if (!first) return time_point::max();
  return deadline_after(candidates_.tried_at(*first), terms_.attempt_max(rounds_));
}

time_point agent::handshake_until(time_point now) const {
  duration const longest = terms_.attempt_max(rounds_);
  if (!candidates_.are_several()) return attempts_until();
  auto const doubled = std::min(rounds_ - 1, handshake_doubled_max);
  return deadline_after(now, std::min(longest, handshake_first * (1u << doubled)));
}

time_point agent::refused_until() const {
  auto const& since = outage_.refused_since();
  if (!session() || !since) return time_point::max();
  return deadline_after(*since, terms_.refused_max());
}

time_point agent::gives_up_at() const {
  return session() ? deadline_after(life_.heard_at(), terms_.fence_after())
                   : deadline_after(started_at_, options_.connect_timeout);
}

}  // namespace coxswain::detail
