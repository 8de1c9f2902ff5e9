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

// Draws other numbers than the backoff.
constexpr std::uint64_t seed_of_rounds = 0x5bd1e995;

template <class T>
void swap_out(T& from, T& into) {
  into.clear();
  std::swap(from, into);
}

}  // namespace

agent::agent(agent_options options)
    : options_{std::move(options)},
      terms_{options_},
      decoder_{hello_reply_bytes_max},
      backoff_{options_.seed, backoff_first, backoff_cap},
      candidates_{options_.addresses, options_.seed ^ seed_of_rounds, options_.follows_others} {}

void agent::start(time_point now) {
  assert(phase_ == phase::idle);
  started_at_ = now;
  outage_.begin(now);
  begin_round(now);
}

void agent::connected(time_point now, std::size_t address) {
  if (phase_ != phase::connecting || !candidates_.is_tried(address)) return;
  phase_ = phase::greeting;
  current_ = address;
  for (std::size_t const other : candidates_.connected(address)) {
    commands_.push_back({agent_command::kind::close, other});
  }
  handshake_until_ = handshake_until(now);
  outage_.note_refusal(now, false);
  requests_.clear_bytes();
  if (!session()) {
    decoder_ = wire::frame_decoder{hello_reply_bytes_max};
    send(now, options_.hello);
    requests_.send_with_hello();
    return;
  }
  decoder_ = wire::frame_decoder{terms_.answer_bytes_max()};
  requests_.send_resume(*session());
  life_.sent(now);
}

void agent::reached(std::size_t address, attempt_stage stage) noexcept {
  candidates_.reached(address, stage);
}

void agent::connect_failed(time_point now, std::size_t address, status why, bool refused) {
  if (phase_ != phase::connecting || !candidates_.is_tried(address)) return;
  candidates_.failed(address, refused);
  bool const all_refuse = candidates_.all_refuse();
  bool const may_return = terms_.may_return() && !options_.hello.acts_for;
  if (all_refuse && !may_return && only_waits_to_leave()) return leave_unanswered();
  outage_.note_refusal(now, all_refuse);
  if (all_refuse && options_.hello.acts_for) {
    return give_up(
        {errc::unavailable,
         "the coxswain task process for which this program acts has ended: " + why.message()});
  }
  if (refused_until() <= now) return coordinator_gone();
  attempt_failed(now, address, std::move(why), refused);
}

void agent::rejected(time_point now, std::size_t address, status why) {
  if (phase_ == phase::up) return lost(now, std::move(why));
  if (phase_ != phase::connecting && phase_ != phase::greeting) return;
  if (!candidates_.is_tried(address)) return;
  if (session()) return attempt_failed(now, address, std::move(why));
  close_transport();
  give_up(std::move(why));
}

void agent::received(time_point now, std::string_view bytes) {
  if (!has_transport()) return;
  if (phase_ == phase::up) life_.heard(now);
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
  life_.write_progressed(now);
}

void agent::lost(time_point now, status why) {
  if (phase_ == phase::up) {
    disconnect(now, std::move(why));
  } else if (phase_ == phase::greeting) {
    attempt_failed(now, current_, std::move(why));
  }
}

void agent::bye(time_point now, bool abandoned) {
  if (phase_ == phase::over) return;
  end_ = abandoned ? status{errc::cancelled, "the client was destroyed"}
                   : status{errc::failed_precondition, "this client has left the job"};
  requests_.complete_all(errc::cancelled, end_.message());
  if (has_transport()) send(now, core::bye_args{abandoned});
  close_transport();
  phase_ = phase::over;
}

void agent::advance(time_point now) {
  expire_calls(now);
  if (phase_ == phase::idle || phase_ == phase::over) return;
  if (gives_up_at() <= now) return give_up(session() ? fenced() : unreachable(now));
  if (phase_ == phase::waiting && refused_until() <= now) return coordinator_gone();
  if (phase_ != phase::up && outage_.report_at() <= now) report_unreachable(now);
  if (phase_ != phase::up) {
    expire_attempts(now);
    bool const may_try = phase_ == phase::waiting || phase_ == phase::connecting;
    if (may_try && next_at_ <= now) open_next(now);
  } else if (life_.silent_at() <= now) {
    candidates_.avoid(current_);
    close_transport();
    disconnect(now, {errc::unavailable, "the coordinator has not replied to heartbeats for " +
                                            text_of(life_.unanswered_for(now))});
  } else {
    if (waits_.next_check_at() <= now) ask_about_waits(now);
    if (life_.next_at() <= now) send_heartbeat(now);
  }
}

void agent::ask_about_waits(time_point now) {
  auto const silence = "no reply from the coordinator at " + terms_.place() +
                       ", which was last heard " + text_of(now - life_.heard_at()) + " ago";
  for (request_id const id : waits_.look(now, requests_.calls(), silence, events_)) {
    send(now, core::ask_waiting_args{id});
  }
}

void agent::report_unreachable(time_point now) {
  auto const end = std::min(refused_until(), gives_up_at());
  events_.emplace_back(
      agent_events::waiting{outage_.report(now, terms_.place(), obstacle(now).message(), end)});
}

std::optional<time_point> agent::next_deadline() const {
  auto next = time_point::max();
  if (auto const first = requests_.calls().first_deadline()) next = expiry(*first);
  if (phase_ != phase::idle && phase_ != phase::over) {
    next = std::min(next, gives_up_at());
  }
  if (phase_ == phase::waiting) next = std::min({next, next_at_, refused_until()});
  if (phase_ == phase::connecting) next = std::min({next, next_at_, attempts_until()});
  if (phase_ == phase::greeting) next = std::min(next, handshake_until_);
  if (phase_ == phase::up) {
    next = std::min({next, life_.next_at(), life_.silent_at(), waits_.next_check_at()});
  } else if (phase_ != phase::idle && phase_ != phase::over) {
    next = std::min(next, outage_.report_at());
  }
  if (next == time_point::max()) return std::nullopt;
  return next;
}

void agent::take_bytes(std::string& into) { swap_out(requests_.bytes(), into); }
void agent::take_commands(std::vector<agent_command>& into) { swap_out(commands_, into); }
void agent::take_completions(std::vector<agent_completion>& into) {
  swap_out(requests_.completions(), into);
}
void agent::take_events(std::vector<agent_event>& into) { swap_out(events_, into); }

}  // namespace coxswain::detail
