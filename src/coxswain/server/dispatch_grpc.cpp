// Connections that speak gRPC, between their bytes and the door (xla). The core gets their input
// only through the door, so recordings contain nothing of HTTP/2.

#include "coxswain/server/line.hpp"
#include "coxswain/xla/outcome.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <string>
#include <utility>
#include <variant>

namespace coxswain::server {
namespace {

// Limit of encoded, unwritten output; more waits in the session.
constexpr std::size_t queued_max = 256 * 1024;
constexpr std::size_t output_at_once = 64 * 1024;

// The first bytes, which the frame decoder has consumed.
constexpr std::string_view preface_begin = "PRI ";

constexpr auto no_token =
    "This coordinator requires a token, which JAX's own client cannot send. Start it with "
    "--xla-listen ADDRESS and connect there, or use Coxswain's client.";

http2::limits limits_for(core::coordinator const& core) {
  http2::limits made;
  made.message_bytes_max = core.options().frame_bytes_max();
  return made;
}

}  // namespace

std::string worker_token(std::vector<core::credential> const& among) {
  auto const found = std::find_if(among.begin(), among.end(), [](core::credential const& one) {
    return one.as == core::role::worker;
  });
  return found == among.end() ? std::string{} : found->token;
}

xla::door_options door_options_of(options const& o, time_point now) {
  xla::door_options made;
  made.job = o.core.job;
  made.num_tasks = o.core.num_tasks;
  made.token = worker_token(o.core.credentials);
  made.recoverable = o.core.recoverable;
  made.strict = o.xla.strict;
  made.alive_timeout = o.xla.alive_timeout;
  made.heartbeat_timeout = o.core.heartbeat_timeout;
  made.session_time = deadline_after(time_point{}, o.core.heartbeat_timeout) - time_point{};
  made.session_time += o.core.reconnect_grace;
  made.reply_bytes_max = std::min(o.core.frame_bytes_max(), o.core.memory_bytes_max / 8);
  made.started = o.core.started;
  made.start = now;
  return made;
}

connection_id dispatch::connected(time_point now, std::string peer,
                                  core::session_secret const& secret) {
  auto const id = core_.connected(now, peer, secret);
  recorder_.write_connected(now, id, peer, secret);
  return id;
}

void dispatch::received(time_point now, connection_id from, core::client_message&& what) {
  recorder_.write_message(now, from, {}, what, core_);
  core_.received(now, from, std::move(what));
}

void dispatch::heard(time_point now, connection_id from) {
  recorder_.write(now, wire::record_kind::heard, from);
  core_.heard(now, from);
}

void dispatch::session_lost(time_point now, connection_id from, core::loss how) {
  bool const is_closed = how == core::loss::closed;
  recorder_.write(now, is_closed ? wire::record_kind::closed : wire::record_kind::unreachable,
                  from);
  core_.lost(now, from, how);
}

bool dispatch::refuse_native(time_point now, connection_id from, line& on) {
  on.deaf = true;
  std::string const why =
      "this address serves JAX processes only (--xla-listen); Coxswain's clients use the "
      "coordinator's own address";
  recorder_.write(now, wire::record_kind::malformed, from, why);
  core_.malformed(now, from, why);
  return true;
}

// The first bytes are those of HTTP/2. Where a token is required, calls are refused until the Hello
// timeout.
void dispatch::begin_grpc(time_point now, connection_id from, line& on) {
  std::string first{preface_begin};
  first += on.decoder.take_rest();
  on.decoder = wire::frame_decoder{0};
  on.grpc = std::make_unique<grpc_line>(limits_for(core_), core_.memory().get());
  on.acts_for_tasks = true;
  if (on.allowed != protocols::native) {
    on.grpc->is_served = true;
    on.greeted = true;
    door_.opened(now, from, core_.peer_of(from), core_.secret_of(from));
  }
  hear_grpc(now, from, on, first);
}

// Input beyond the quantum waits for the next one.
dispatch::taken dispatch::hear_grpc(time_point now, connection_id from, line& on,
                                    std::string_view input) {
  grpc_line& g = *on.grpc;
  refill(on);
  if (g.is_served) door_.heard(now, from);
  on.waits = false;
  while ((!input.empty() || g.session.has_events()) && on.steps_left > 0) {
    auto const count = g.session.receive(now, input, events_->all);
    input.remove_prefix(count);
    bool const has_found = !events_->all.empty();
    take_events(now, from, on);
    if (g.session.asks_for() != 0) let_large_arrive(now, from, on);
    if (has_much_to_send()) collect(now);
    apply_effects(now);
    if (count == 0 && !has_found) break;
  }
  if (on.has_large) look_at_large_calls(from, on);
  if (!g.session.wants_read() && !g.leaves && !g.session.error().empty()) {
    on.deaf = true;
    recorder_.write(now, wire::record_kind::malformed, from, g.session.error());
    core_.malformed(now, from, g.session.error());
  } else if (!input.empty() || g.session.has_events()) {
    g.unread = input;
    wait(now, from, on);
  } else if (on.waits_from != 0) {
    waits_no_more(from, on);
  }
  changed(now, from, on);
  return on.state();
}

void dispatch::take_events(time_point now, connection_id from, line& on) {
  grpc_line& g = *on.grpc;
  for (auto const& what : events_->all) {
    if (auto const* const call = std::get_if<http2::call>(&what)) {
      ++frames_received_;
      if (g.is_served) {
        bool const is_full = g.session.unsent_bytes() > queued_bytes_max_;
        door_.called(now, {{from, call->stream.value},
                           call->path,
                           g.session.user_agent(),
                           call->message,
                           call->timeout,
                           is_full});
      } else {
        auto const why = xla::by_service({errc::unauthenticated, no_token});
        g.session.fail(call->stream, why.code, why.text, why.details);
      }
      charge(on, call->message.size());
    } else if (auto const* const gone = std::get_if<http2::call_cancelled>(&what)) {
      door_.cancelled(now, {from, gone->stream.value}, gone->why == http2::error_code::no_error);
      charge(on, 0);
    } else if (std::holds_alternative<http2::ping_answer>(what) && g.is_served) {
      door_.pong(now, from);
    }
  }
  events_->all.clear();
}

// `on` is null for sessions of tasks, which only connections with the door have.
void dispatch::tell_door(time_point now, line const* on, core::outgoing const& what) {
  auto const* const bye = std::get_if<core::goodbye>(&what.what->value);
  if (on == nullptr || on->grpc->is_served || bye == nullptr) return door_.sent(now, what);
  xla::effect end = xla::goodbye{what.to, bye->why};
  make_effective(now, end);
}

void dispatch::make_effective(time_point now, xla::effect& what) {
  auto const line_of = [&](connection_id id) {
    auto* const on = find(id);
    return on != nullptr && on->grpc ? on : nullptr;
  };
  if (auto* const r = std::get_if<xla::reply>(&what)) {
    auto* const on = line_of(r->to.on);
    if (on == nullptr) return;
    ++frames_sent_;
    http2::stream_id const stream{r->to.stream};
    if (r->how.ok()) {
      on->grpc->session.reply(stream, std::move(r->what.head), std::move(r->what.tail));
    } else {
      on->grpc->session.fail(stream, r->how.code, r->how.text, r->how.details);
    }
    changed(now, r->to.on, *on);
  } else if (auto const* const p = std::get_if<xla::ping>(&what)) {
    auto* const on = line_of(p->to);
    if (on == nullptr) return;
    on->grpc->session.ping(0);
    changed(now, p->to, *on);
  } else if (auto* const e = std::get_if<core::event>(&what)) {
    report(std::move(*e));
  } else {
    auto const& bye = std::get<xla::goodbye>(what);
    auto* const on = line_of(bye.to);
    if (on == nullptr || on->grpc->leaves) return;
    on->grpc->leaves = true;
    http2::stream_id const all{std::numeric_limits<std::int32_t>::max()};
    on->grpc->session.go_away(all, http2::error_code::no_error, bye.why.message());
    changed(now, bye.to, *on);
  }
}

void dispatch::apply_effects(time_point now) {
  door_.take_effects(effects_);
  for (auto& one : effects_) {
    try {
      make_effective(now, one);
    } catch (std::exception const&) {  // out of memory: the client repeats the call on another
                                       // connection
      if (auto const* const r = std::get_if<xla::reply>(&one)) {
        if (auto* const on = find(r->to.on)) on->out.abandon();
      }
    }
  }
  effects_.clear();
}

// Encodes up to the limit of the queue. After the last byte of a goodbye the outbox ends.
void dispatch::pump(time_point now, connection_id to, line& on) {
  grpc_line& g = *on.grpc;
  try {
    bool grows = true;
    while (grows && g.session.wants_write() && on.out.queued_bytes() < queued_max) {
      auto const before = on.out.queued_bytes();
      on.out.append([&](std::string& out) { g.session.append_output(out, output_at_once); });
      grows = on.out.queued_bytes() != before;
    }
  } catch (std::exception const&) {
    return on.out.abandon();
  }
  bool const is_over = !g.session.wants_read() && !g.session.wants_write();
  if ((g.leaves && !g.session.wants_write()) || is_over) on.out.end_with({});
  look_at_window(now, to, on);
}

// A peer with a closed window does not read, even if its kernel accepts bytes.
void dispatch::look_at_window(time_point now, connection_id to, line& on) {
  bool const waits = on.grpc->session.waits_for_window();
  auto const sent = on.grpc->session.sent_bytes();
  bool const has_taken = std::exchange(on.grpc->sent_bytes, sent) != sent;
  if (on.blocked && (waits ? has_taken : on.out.empty())) {
    on.blocked = false;
    write_progressed(now, to);
  }
  if (waits) write_blocked(now, to);
}

}  // namespace coxswain::server
