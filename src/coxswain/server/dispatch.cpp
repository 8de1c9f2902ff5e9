#include "coxswain/server/dispatch.hpp"

#include "coxswain/server/admission/rejections.hpp"
#include "coxswain/server/dispatch/grpc_line.hpp"
#include "coxswain/server/dispatch/tcp_store_line.hpp"
#include "coxswain/server/dispatch/trunk_line.hpp"
#include "coxswain/wire/codec.hpp"

#include <algorithm>
#include <cassert>
#include <exception>
#include <new>
#include <utility>

namespace coxswain::server {

namespace {

// The memory of a larger message is freed at once.
constexpr std::size_t message_bytes_kept = 4 * 1024;

bool is_heartbeat(core::client_message const& what) {
  return what.id == request_id{} && std::holds_alternative<std::monostate>(what.what);
}

std::string heartbeat_reply(encoder& by) {
  auto const& reply = by.encode(core::make_answer({}));
  std::string made;
  wire::append_server_head(made, {}, reply.size());
  return made + reply.copied;
}

constexpr auto unmodified_only =
    "this address serves JAX processes and torch's TCPStore clients only (--xla-listen); "
    "Coxswain's clients use the coordinator's own address";

constexpr auto tcp_store_only =
    "this address serves torch's TCPStore clients only; Coxswain's clients use the coordinator's "
    "own address";

}  // namespace

dispatch::dispatch(options const& o, core_origin from)
    : core_{o, std::move(from)},
      events_{core_, o.log},
      encoder_{core_.logic().memory()},
      lines_{core_},
      steps_{core_.logic()},
      memory_{
          core_, lines_, events_, encoder_, o.core.stalled_reader_timeout, o.core.suspect_after()},
      grpc_{{core_, lines_, steps_, memory_, events_}, o, core_.logic().self(), from.now},
      tcp_store_{{core_, lines_, steps_, memory_, events_}, o},
      queued_bytes_max_{o.queued_bytes_max},
      wants_stacks_{o.wants_stacks},
      heartbeat_{heartbeat_reply(encoder_)},
      now_{from.now} {
  encoder_.forget();
}

connection_id dispatch::open(time_point now, std::string peer, core::session_secret secret,
                             protocols allowed) {
  auto const guard = core_.beginning();
  auto new_line = std::make_unique<line>(core_.logic().memory(), queued_bytes_max_);
  new_line->allowed = allowed;
  bool const has_frames = allowed == protocols::native || allowed == protocols::both;
  if (!has_frames) new_line->decoder.limit(0);
  return add_line(now, std::move(peer), secret, std::move(new_line));
}

connection_id dispatch::add_line(time_point now, std::string peer,
                                 core::session_secret const& secret, std::unique_ptr<line> line) {
  now_ = now;
  if (core_.holds_output()) line->out.hold();
  auto const id = core_.connected(now, std::move(peer), secret);
  try {
    lines_.add(id, std::move(line));
  } catch (std::bad_alloc const&) {
    lost(now, id, core::loss::closed);
    throw;
  }
  return id;
}

void dispatch::begin() {
  grpc_.begin();
  steps_.begin([this](connection_id id) {
    auto* const on = lines_.find(id);
    return on != nullptr ? &on->steps : nullptr;
  });
}

dispatch::taken dispatch::received(time_point now, connection_id from, std::string_view bytes) {
  auto* const on = lines_.find(from);
  if (on == nullptr || !on->takes_input()) return taken::all;
  now_ = now;
  auto const guard = core_.beginning();
  if (on->grpc) return hear_grpc(now, from, *on, bytes);
  if (on->tcp_store) return hear_tcp_store(now, from, *on, bytes);
  on->decoder.feed(bytes);
  steps_.refill(on->steps);
  if (!take_frames(now, from, *on)) heard(now, from, *on);
  return state_of(*on);
}

dispatch::taken dispatch::go_on(time_point now, connection_id from) {
  auto* const on = lines_.find(from);
  if (on == nullptr || !on->takes_input()) return taken::all;
  now_ = now;
  auto const guard = core_.beginning();
  if (on->steps.waits) {
    if (now - on->heard >= heard_period) heard(now, from, *on);
  } else {
    if (on->grpc) return hear_grpc(now, from, *on, std::exchange(on->grpc->unread, {}));
    if (on->tcp_store) return hear_tcp_store(now, from, *on, {});
    steps_.refill(on->steps);
    static_cast<void>(take_frames(now, from, *on));
  }
  return state_of(*on);
}

void dispatch::heard(time_point now, connection_id from, line& on) {
  on.heard = now;
  core_.heard(now, from);
}

void dispatch::broke(connection_id to) {
  auto* const on = lines_.find(to);
  if (on == nullptr) return;
  on->broken = !on->out.ends();
  on->deaf |= on->asks_for() != 0;  // its frame never becomes whole
  on->out.abandon();
  on->reading_paused = false;  // without notifying the core: this is no sign of life
}

// True if the core got input. Output is moved to the outboxes before it grows, so that no client
// can request more than it reads.
bool dispatch::take_frames(time_point now, connection_id from, line& on) {
  bool core_got_input = false;
  if (memory_.is_scarce()) memory_.yield(now, from, on);
  while (!on.reading_paused && steps_.may_go_on(from, on.steps)) {
    auto const frame = on.decoder.next();
    if (!frame) {
      malformed(now, from, on, frame.error());
      return true;
    }
    if (!*frame) {
      if (on.decoder.asks_for() != 0) {
        if (memory_.admit(now, from, on)) continue;
        break;
      }
      steps_.waits_no_more(from, on.steps);
      if (on.has_large) memory_.check_large(from, on);
      return core_got_input;
    }
    if (on.trunk && wire::is_routed(**frame)) {
      if (status why = take_routed(now, from, on, **frame); !why.ok()) {
        malformed(now, from, on, why);
        return true;
      }
      continue;
    }
    ++frames_received_;
    wire::decoded_payload payload;
    if (status why = wire::decode_client(**frame, message_, payload); !why.ok()) {
      malformed(now, from, on, why);
      return true;
    }
    bool const is_answered_here = on.out.holds() && is_heartbeat(message_);
    core_.received(now, from, payload, std::move(message_));
    if (is_answered_here) answer_heartbeat(now, from, on);
    if ((*frame)->size() > message_bytes_kept) message_ = {};
    steps_.charge(on.steps, (*frame)->size());
    if (relieve_core(now) && memory_.is_scarce()) memory_.yield(now, from, on);
    core_got_input = true;
    if (!on.greeted) {
      auto const limit = core_.logic().frame_bytes_max(from);
      on.greeted = limit != core::hello_frame_bytes_max;
      on.decoder.limit(limit);
      if (core_.logic().is_relay(from)) begin_trunk(from, on);
    }
  }
  on.decoder.keep();
  if (on.has_large) memory_.check_large(from, on);
  if (on.reading_paused) return true;
  if (on.decoder.has_input()) {
    on.heard = now;
    steps_.wait(now, from, on.steps);
  } else {
    steps_.waits_no_more(from, on.steps);
  }
  return core_got_input;
}

// Input beyond the quantum waits for the next one.
dispatch::taken dispatch::hear_grpc(time_point now, connection_id from, line& on,
                                    std::string_view input) {
  bool goes_on = grpc_.begin_input(now, from, on, input);
  while (goes_on) {
    goes_on = grpc_.receive(now, from, on, input);
    relieve_core(now);
    grpc_.apply_effects(now);
  }
  grpc_.end_input(now, from, on, input);
  return state_of(on);
}

dispatch::taken dispatch::hear_tcp_store(time_point now, connection_id from, line& on,
                                         std::string_view input) {
  tcp_store_.begin_input(on, input);
  while (tcp_store_.receive(now, from, on)) relieve_core(now);
  return state_of(on);
}

void dispatch::malformed(time_point now, connection_id from, line& on, status const& why) {
  if (tcp_store_connections::are_met(on)) {
    auto const first = tcp_store_.open(now, from, on);
    if (on.tcp_store) hear_tcp_store(now, from, on, first);
    return;
  }
  if (on.decoder.meets_http2() && !on.greeted && on.allowed != protocols::tcp_store) {
    auto const first = grpc_.open(now, from, on);
    hear_grpc(now, from, on, first);
    return;
  }
  on.deaf = true;
  bool const meets_http = on.decoder.meets_http();
  if (on.allowed == protocols::jax && !meets_http) {
    return core_.malformed(now, from, unmodified_only);
  }
  if (on.allowed == protocols::tcp_store) return core_.malformed(now, from, tcp_store_only);
  if (!on.greeted && meets_http) on.out.end_with(no_http());
  core_.malformed(now, from, why.message());
}

void dispatch::closed_in_order(time_point now, connection_id from) {
  auto const guard = core_.completing();
  now_ = now;
  auto* const on = lines_.find(from);
  if (on != nullptr && on->tcp_store) tcp_store_.closed_in_order(now, from, *on);
}

void dispatch::lost(time_point now, connection_id from, core::loss how) noexcept {
  auto const guard = core_.completing();
  now_ = now;
  if (auto* const on = lines_.find(from); on != nullptr) {
    if (on->trunk) {
      auto const with_it = how == core::loss::unreachable ? how : core::loss::trunk_closed;
      for (auto const& [number, id] : on->trunk->routes) {
        lost(now, id, lines_.find(id)->route->ended.value_or(with_it));
      }
    }
    if (on->tcp_store) tcp_store_.lost(now, from);
    if (on->trunk) --trunks_;
    if (on->route) --routes_;
  }
  grpc_.lost(now, from, how);
  lines_.erase(from);
  memory_.forget(from);
  core_.lost(now, from, how);
}

void dispatch::wrote(time_point now, connection_id to, std::size_t count) {
  auto* const on = lines_.find(to);
  if (on == nullptr || count == 0) return;
  now_ = now;
  on->out.written(count, encoder_);
  forget_encoded();
  bool const waits_for_window = on->grpc && on->grpc->session.waits_for_window();
  if (!waits_for_window) lines_.write_progressed(now, to, *on);
  if (on->grpc) {
    grpc_.pump(now, to, *on);
  } else if (on->tcp_store) {
    tcp_store_.wrote(now, to, *on);
  } else {
    lines_.notify_paused(now, to, *on);
  }
  if (on->trunk) pump_routes(now, *on);
  hold_back(to, *on);
}

void dispatch::write_blocked(time_point now, connection_id to) {
  auto* const on = lines_.find(to);
  if (on == nullptr || on->blocked) return;
  now_ = now;
  lines_.write_blocked(now, to, *on);
}

void dispatch::still_reads(time_point now, connection_id to) {
  auto* const on = lines_.find(to);
  if (on == nullptr || !on->blocked) return;
  now_ = now;
  lines_.write_progressed(now, to, *on);
  lines_.write_blocked(now, to, *on);
}

status dispatch::put_in(time_point now, core::owner_input what) {
  auto const guard = core_.completing();
  now_ = now;
  if (auto const* const given = std::get_if<core::credentials_replaced>(&what)) {
    grpc_.use(given->by);
    tcp_store_.use(given->by);
  }
  return core_.put_in(now, std::move(what));
}

void dispatch::advance(time_point now) {
  now_ = std::max(now_, steps_.limited(now));
  if (has_routes_to_go_on()) go_on_routes(now_);
  now = steps_.limited(now);
  if (!slowed_.empty()) go_on_slowed(now_);
  memory_.advance(now);
  for (auto const id : memory_.due_signs(now)) show_life(now, id);
  grpc_.advance(now);
  auto const next = core_.logic().next_deadline();
  if (!next || now < *next) return;
  auto const guard = core_.completing();
  core_.advance(now);
  steps_.charge_nobody();
}

std::optional<time_point> dispatch::next_deadline() const {
  if (has_routes_to_go_on()) return now_;
  auto next = core_.logic().next_deadline();
  if (!slowed_.empty() && (!next || slowed_.begin()->first < *next)) {
    next = slowed_.begin()->first;
  }
  for (auto const other : {memory_.next_deadline(), grpc_.next_deadline()}) {
    if (other && (!next || *other < *next)) next = other;
  }
  return next;
}

bool dispatch::is_greeted(connection_id from) const {
  auto const* const on = lines_.find(from);
  return on != nullptr && on->greeted;
}

bool dispatch::speaks_frames(connection_id from) const {
  auto const* const on = lines_.find(from);
  return on != nullptr && !on->grpc && !on->tcp_store;
}

outbox& dispatch::out(connection_id to) {
  auto* const on = lines_.find(to);
  assert(on != nullptr);
  return on->out;
}

outbox const& dispatch::out(connection_id to) const {
  auto const* const on = lines_.find(to);
  assert(on != nullptr);
  return on->out;
}

dispatch::backlog dispatch::queued() const {
  backlog all;
  lines_.each([&](connection_id, line const& line) {
    all.bytes += line.out.queued_bytes();
    all.messages += line.out.waiting();
    if (line.route && line.blocked) ++all.routes_paused;
  });
  return all;
}

void dispatch::count(statistics& all) const {
  all.frames_received = frames_received();
  all.frames_sent = frames_sent();
  all.waits = steps_.waits();
  all.worker_wait_max = steps_.worker_wait_max();
  all.steps_max = static_cast<std::uint64_t>(steps_.steps_max());
  auto const in_outboxes = queued();
  all.queued_bytes = in_outboxes.bytes;
  all.queued_messages = in_outboxes.messages;
  all.transit_bytes = logic().memory()->transit();
  for (std::size_t i = 0; i < all.shares.size(); ++i) {
    all.shares[i] = logic().held_by(core::share_kind{static_cast<std::uint8_t>(i)});
  }
  all.relays = trunks_;
  all.routes = routes_;
  all.routes_paused = in_outboxes.routes_paused;
  all.routes_opened = routes_opened_;
  all.exits_reported = exits_reported_;
  all.replies_shared = replies_shared_;
  all.jax_connections = xla_service().clients();
  for (std::size_t i = 0; i < xla::methods; ++i) {
    auto const& call = xla_service().counted()[i];
    all.jax_calls.push_back({xla::name(static_cast<xla::method>(i)), call.calls, call.failed});
  }
  all.core = logic().counts();
}

void dispatch::check_invariants() const {
  core_.logic().check_invariants();
  assert(collected_ <= outgoing_.size());
  lines_.each([](connection_id, line const& line) {
    line.out.check_invariants();
    assert(line.reading_paused == line.out.pauses_reading());
  });
}

}  // namespace coxswain::server
