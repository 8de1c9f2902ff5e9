#include "coxswain/server/dispatch/grpc_connections.hpp"

#include "coxswain/server/dispatch/grpc_calls.hpp"
#include "coxswain/server/dispatch/grpc_line.hpp"
#include "coxswain/xla/outcome.hpp"

#include <algorithm>
#include <exception>
#include <memory>
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

// Calls besides the requests that a session may have open, such as polls.
constexpr std::size_t calls_beside = 128;

// Of answers that no window holds back, such as errors: with more of them, nothing is read.
constexpr std::size_t answers_max = 64 * 1024;

// A client with more unread bytes gets no further listing of a directory.
constexpr std::size_t unread_listings_max = 1024 * 1024;

// Of the memory, for requests of one connection that arrive unasked.
constexpr std::size_t part_for_arriving = 16;

http2::limits limits_for(core::coordinator const& core) {
  http2::limits made;
  auto const& o = core.options();
  made.message_bytes_max = o.frame_bytes_max();
  made.streams_max = o.open_requests_max + calls_beside;
  made.arriving_bytes_max =
      std::min(made.arriving_bytes_max, o.memory_bytes_max / part_for_arriving);
  return made;
}

// xla_service's part of the server's options.
xla::xla_service_options xla_service_options_of(options const& o, time_point now) {
  xla::xla_service_options made;
  made.job = o.core.job;
  made.host = o.xla.host;
  made.num_tasks = o.core.num_tasks;
  made.token = core::worker_token(o.core.credentials);
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

xla::xla_service_options with_is_full(xla::xla_service_options made, line_table const& lines) {
  made.is_full = [&lines](connection_id id) {
    auto const* const on = lines.find(id);
    return on != nullptr && on->grpc && on->grpc->session.unsent_bytes() > unread_listings_max;
  };
  return made;
}

}  // namespace

grpc_connections::grpc_connections(parts of, options const& o, incarnation self, time_point now)
    : core_{of.core},
      lines_{of.lines},
      steps_{of.steps},
      memory_{of.memory},
      events_{of.events},
      service_{with_is_full(xla_service_options_of(o, now), lines_), self, core_,
               core_.logic().memory()},
      found_{std::make_unique<grpc_events>()},
      queued_bytes_max_{o.queued_bytes_max} {}

grpc_connections::~grpc_connections() = default;

std::string grpc_connections::open(time_point now, connection_id from, line& on) {
  std::string first{preface_begin};
  first += on.decoder.take_rest();
  on.decoder = wire::frame_decoder{0};
  auto const& core = core_.logic();
  on.grpc = std::make_unique<grpc_line>(limits_for(core), core.memory().get(), found_->frames);
  if (on.allowed != protocols::native) {
    on.grpc->is_served = true;
    on.greeted = true;
    had_clients_ = true;
    service_.opened(now, from, core.peer_of(from), core.secret_of(from));
  } else {
    auto why = xla::by_service({errc::unauthenticated, no_token});
    on.grpc->session.refuse_calls(why.code, std::move(why.text), std::move(why.details));
  }
  return first;
}

bool grpc_connections::begin_input(time_point now, connection_id from, line& on,
                                   std::string_view input) {
  steps_.refill(on.steps);
  if (on.grpc->is_served) service_.heard(now, from);
  on.steps.waits = false;
  on.steps.acts_for_tasks = service_.acts_for_tasks(from);
  return may_receive(from, on, input);
}

bool grpc_connections::may_receive(connection_id from, line& on, std::string_view input) const {
  auto const& session = on.grpc->session;
  return (!input.empty() || session.has_events()) && session.answer_bytes() <= answers_max &&
         steps_.may_go_on(from, on.steps);
}

bool grpc_connections::receive(time_point now, connection_id from, line& on,
                               std::string_view& input) {
  auto& session = on.grpc->session;
  bool const may_overtake = can_overtake(now, from, on);
  auto const count = session.receive(now, input, found_->all);
  if (may_overtake) overtake(on);  // acknowledgements of pings and settings
  input.remove_prefix(count);
  auto const work = session.work_bytes();
  if (work != 0) steps_.charge(on.steps, work);
  bool const has_found = !found_->all.empty();
  take_events(now, from, on);
  if (session.asks_for() != 0) memory_.let_large_arrive(now, from, on);
  if (session.answer_bytes() > answers_max) pump(now, from, on);
  return (count != 0 || has_found || work != 0) && may_receive(from, on, input);
}

void grpc_connections::end_input(time_point now, connection_id from, line& on,
                                 std::string_view input) {
  grpc_line& g = *on.grpc;
  if (on.has_large) memory_.check_large(from, on);
  if (!g.session.wants_read() && !g.leaves && !g.session.error().empty()) {
    on.deaf = true;
    core_.malformed(now, from, g.session.error());
  } else if (!input.empty() || g.session.has_events()) {
    g.unread = input;
    on.heard = now;
    if (g.session.answer_bytes() > answers_max) pump(now, from, on);
    // Input that waits until answers are read goes on when the pause ends, and holds up no queue.
    if (on.reading_paused) {
      steps_.waits_no_more(from, on.steps);
    } else {
      steps_.wait(now, from, on.steps);
    }
  } else {
    steps_.waits_no_more(from, on.steps);
  }
  lines_.changed(now, from, on);
}

void grpc_connections::take_events(time_point now, connection_id from, line& on) {
  grpc_line& g = *on.grpc;
  for (auto const& what : found_->all) {
    auto const* const call = std::get_if<http2::call>(&what);
    if (call != nullptr) ++calls_received_;
    if (g.is_served) {
      bool const is_full = call != nullptr && g.session.burden() > queued_bytes_max_;
      pass_to(service_, now, from, g.session, what, is_full);
    }
    if (call != nullptr || std::holds_alternative<http2::call_cancelled>(what)) {
      steps_.charge(on.steps, 0);
    }
  }
  found_->all.clear();
}

void grpc_connections::send(time_point now, line const* on, core::outgoing const& what) {
  auto const* const bye = std::get_if<core::goodbye>(&what.what->value);
  if (on == nullptr || on->grpc->is_served || bye == nullptr) return service_.sent(now, what);
  xla::effect end = xla::goodbye{what.to, bye->why};
  make_effective(now, end);
}

void grpc_connections::make_effective(time_point now, xla::effect& what) {
  auto const line_of = [&](connection_id id) {
    auto* const on = lines_.find(id);
    return on != nullptr && on->grpc ? on : nullptr;
  };
  if (auto* const r = std::get_if<xla::reply>(&what)) {
    auto* const on = line_of(r->to.on);
    if (on == nullptr) return;
    ++replies_sent_;
    bool const may_overtake = r->says_only_alive && can_overtake(now, r->to.on, *on);
    answer(on->grpc->session, *r);
    if (may_overtake) overtake(*on);
    lines_.changed(now, r->to.on, *on);
  } else if (auto const* const p = std::get_if<xla::ping>(&what)) {
    auto* const on = line_of(p->to);
    if (on == nullptr) return;
    on->grpc->session.ping(0);
    lines_.changed(now, p->to, *on);
  } else if (auto* const e = std::get_if<core::event>(&what)) {
    events_.report(std::move(*e));
  } else {
    auto const& bye = std::get<xla::goodbye>(what);
    auto* const on = line_of(bye.to);
    if (on == nullptr || on->grpc->leaves) return;
    on->grpc->leaves = true;
    say_goodbye(on->grpc->session, bye.why.message());
    lines_.changed(now, bye.to, *on);
  }
}

void grpc_connections::apply_effects(time_point now) {
  if (!has_effects()) return;
  service_.take_effects(effects_);
  for (auto& effect : effects_) {
    try {
      make_effective(now, effect);
    } catch (std::exception const&) {  // out of memory: the client repeats the call on another
                                       // connection
      if (auto const* const r = std::get_if<xla::reply>(&effect)) {
        if (auto* const on = lines_.find(r->to.on)) on->out.abandon();
      }
    }
  }
  effects_.clear();
}

void grpc_connections::pump(time_point now, connection_id to, line& on) {
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
  check_window(now, to, on);
  bool const pauses = g.session.answer_bytes() > answers_max && !on.out.ends();
  if (pauses != on.waits_for_memory) lines_.pause(now, to, on, pauses);
}

// Whether what its session has to send next may leave before what is held back: nothing else is in
// the session, and the peer has its settings.
bool grpc_connections::can_overtake(time_point now, connection_id to, line& on) {
  if (!on.out.holds() || !on.out.has_released() || on.out.has_writable()) return false;
  pump(now, to, on);
  auto const& session = on.grpc->session;
  return !on.out.ends() && !session.wants_write() && !session.waits_for_window();
}

void grpc_connections::overtake(line& on) {
  std::string bytes;
  on.grpc->session.append_output(bytes, output_at_once);
  if (!bytes.empty()) on.out.overtake(std::move(bytes));
}

// A peer with a closed window does not read, even if its kernel accepts bytes.
void grpc_connections::check_window(time_point now, connection_id to, line& on) {
  bool const waits = on.grpc->session.waits_for_window();
  auto const sent = on.grpc->session.sent_bytes();
  bool const has_taken = std::exchange(on.grpc->sent_bytes, sent) != sent;
  if (on.blocked && (waits ? has_taken : on.out.empty())) {
    lines_.write_progressed(now, to, on);
  }
  if (waits) lines_.write_blocked(now, to, on);
}

void grpc_connections::use(std::vector<core::credential> const& credentials) {
  service_.use_token(core::worker_token(credentials));
}

void grpc_connections::advance(time_point now) {
  auto const due = next_deadline();
  if (!due || now < *due) return;
  auto const guard = core_.completing();
  service_.advance(now);
}

}  // namespace coxswain::server
