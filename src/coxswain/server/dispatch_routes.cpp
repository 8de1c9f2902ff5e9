// Routes: connections that a relay carries over its own, the trunk (§18.3). For the core,
// and in everything above bytes, they are connections like any other.

#include "coxswain/core/kernel/sessions.hpp"
#include "coxswain/server/admission/pending_peers.hpp"
#include "coxswain/server/admission/rejections.hpp"
#include "coxswain/server/dispatch.hpp"
#include "coxswain/server/dispatch/grpc_line.hpp"
#include "coxswain/server/dispatch/tcp_store_line.hpp"
#include "coxswain/server/dispatch/trunk_line.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace coxswain::server {
namespace {

// Routes add no more to a trunk's queue that has this much.
constexpr std::size_t trunk_queued_max = 256 * 1024;

// The relay is granted more room on a route each time this many bytes of it have been taken.
constexpr std::size_t unreported_max = wire::route_room_max / 2;

constexpr std::size_t routed_pieces_max = 16;

void append_content(std::string& out, std::uint32_t number, std::string_view content) {
  wire::append_content_head(out, number, content.size());
  out += content;
}

status of_route(std::uint32_t number, std::string_view what) {
  return {errc::invalid_argument, "route " + std::to_string(number) + std::string{what}};
}

}  // namespace

// Its output is not held for the journal: that of the routes has been, and the relay's own session
// changes nothing.
void dispatch::begin_trunk(connection_id from, line& on) {
  on.trunk = std::make_unique<trunk_line>();
  ++trunks_;
  on.trunk->peer = core_.logic().peer_of(from);
  on.steps.acts_for_tasks = true;
  if (on.out.holds()) on.out.hold_no_more();
}

status dispatch::take_routed(time_point now, connection_id from, line& on,
                             std::string_view payload) {
  auto const what = wire::decode_routed(payload);
  if (!what) return what.error();
  using kind = wire::routed::kind;
  if (what->what == kind::opened) return open_route(now, from, on, *what);
  if (what->what == kind::shared) {
    return {errc::invalid_argument, "only the coordinator shares replies"};
  }
  if (what->what == kind::living) return take_living(now, on, what->silent);
  auto const found = on.trunk->routes.find(what->route);
  if (found == on.trunk->routes.end()) {
    if (what->route <= on.trunk->last_opened) return {};  // it was closed here meanwhile
    return of_route(what->route, " was not opened");
  }
  connection_id const id = found->second;
  line& line = *lines_.find(id);
  if (what->what == kind::content) return take_content(now, id, line, what->content);
  if (what->what == kind::room) return make_room(now, id, line, what->room);
  if (line.out.empty()) closed_in_order(now, id);
  if (what->has_exited) ++exits_reported_;
  line.route->ended = what->has_exited ? core::loss::exited : core::loss::closed;
  broke(id);
  lines_.go_on_later(id, line);
  return {};
}

status dispatch::open_route(time_point now, connection_id from, line& on,
                            wire::routed const& what) {
  trunk_line& t = *on.trunk;
  if (what.route <= t.last_opened) return of_route(what.route, " does not rise");
  t.last_opened = what.route;
  if (t.routes.size() >= trunk_line::routes_max) {
    on.out.append([&](std::string& to) {
      append_content(to, what.route, no_route(trunk_line::routes_max));
      wire::append_closed(to, what.route);
    });
    lines_.changed(now, from, on);
    return {};
  }
  auto new_line = std::make_unique<line>(core_.logic().memory(), queued_bytes_max_);
  new_line->route = std::make_unique<route_line>(from, what.route, core_.logic().memory().get());
  new_line->steps.queues = true;
  auto peer = t.peer + std::string{core::via_relay} + std::string{what.peer};
  auto const place = t.routes.emplace(what.route, connection_id{}).first;
  try {
    place->second = add_line(now, std::move(peer), what.secret, std::move(new_line));
  } catch (std::bad_alloc const&) {
    t.routes.erase(place);
    throw;
  }
  ++routes_;
  ++routes_opened_;
  return {};
}

status dispatch::take_content(time_point now, connection_id id, line& on,
                              std::string_view content) {
  route_line& r = *on.route;
  r.unreported += content.size();
  if (r.unreported > wire::route_room_max) return of_route(r.number, " has no room for its bytes");
  if (!on.takes_input()) return {};
  // The decoder keeps what came before a pause until its route goes on.
  if (state_of(on) != taken::all || !r.unread.empty() || on.decoder.has_input()) {
    r.unread += content;
    r.counted.count(r.unread.capacity());
    return {};
  }
  if (on.grpc) {
    static_cast<void>(hear_grpc(now, id, on, content));
  } else if (on.tcp_store) {
    static_cast<void>(hear_tcp_store(now, id, on, content));
  } else {
    on.decoder.feed(content);
    steps_.refill(on.steps);
    if (!take_frames(now, id, on)) heard(now, id, on);
  }
  settle_route(now, id, on);
  return {};
}

status dispatch::make_room(time_point now, connection_id id, line& on, std::size_t bytes) {
  on.route->room += bytes;
  if (on.route->room > wire::route_room_max) {
    return of_route(on.route->number, " has too much room");
  }
  lines_.write_progressed(now, id, on);
  if (on.out.has_writable() || on.grpc) lines_.changed(now, id, on);
  return {};
}

// The clients of all routes live, except of these.
status dispatch::take_living(time_point now, line& on, std::string_view silent) {
  std::vector<std::uint32_t> all;
  while (auto const route = wire::take_route(silent)) all.push_back(*route);
  if (!silent.empty() || !std::is_sorted(all.begin(), all.end())) {
    return {errc::invalid_argument, "the list of silent routes is malformed"};
  }
  for (auto const& [number, id] : on.trunk->routes) {
    if (!std::binary_search(all.begin(), all.end(), number)) core_.vouched(now, id);
  }
  return {};
}

// After input was taken, or could not be.
void dispatch::settle_route(time_point now, connection_id id, line& on) {
  route_line& r = *on.route;
  if (state_of(on) == taken::waits || (state_of(on) == taken::all && !r.unread.empty())) {
    if (!on.steps.is_queued) lines_.go_on_later(id, on);
    return;
  }
  if (state_of(on) != taken::all) return;
  if (r.ended) return end_route(now, id, on);
  if (r.unreported < unreported_max) return;
  auto const bytes = static_cast<std::uint32_t>(std::exchange(r.unreported, 0));
  line& carrier = *lines_.find(r.trunk);
  carrier.out.append([&](std::string& to) { wire::append_room(to, r.number, bytes); });
  lines_.changed(now, r.trunk, carrier);
}

// Input that waited for its route's next quantum, for memory, or for others.
void dispatch::go_on_routes(time_point now) {
  auto const guard = core_.completing();
  steps_.begin_queue();
  for (auto const id : lines_.take_going_on()) {
    if (auto* const on = lines_.find(id)) go_on_route(now, id, *on);
  }
  steps_.serve_queue([&](connection_id id) {
    if (auto* const on = lines_.find(id)) {
      on->steps.waits = false;
      go_on_route(now, id, *on);
    }
    auto* const on = lines_.find(id);  // unless that has ended it
    return on != nullptr ? &on->steps : nullptr;
  });
}

void dispatch::go_on_route(time_point now, connection_id id, line& on) {
  route_line& r = *on.route;
  if (!on.takes_input()) {
    r.unread = {};
  } else if (on.steps.waits) {
    if (now - on.heard >= heard_period) heard(now, id, on);
  } else if (on.grpc) {
    static_cast<void>(hear_grpc(now, id, on, std::exchange(on.grpc->unread, {})));
  } else if (on.tcp_store) {
    static_cast<void>(hear_tcp_store(now, id, on, {}));
  } else {
    steps_.refill(on.steps);
    static_cast<void>(take_frames(now, id, on));
  }
  if (state_of(on) == taken::all && !r.unread.empty()) {
    auto const content = std::exchange(r.unread, {});
    r.counted.count(0);
    r.unreported -= content.size();
    static_cast<void>(take_content(now, id, on, content));
  } else {
    settle_route(now, id, on);
  }
}

// Whether its client is to learn only later that its token is wrong, as with a connection of its
// own.
bool dispatch::is_slowed(time_point now, connection_id id, line& on) {
  if (core_.logic().wrong_token(id) == nullptr) return false;
  auto& since = on.route->slowed;
  if (since && now >= *since + slowed_max) return false;
  auto const& peer = lines_.find(on.route->trunk)->trunk->peer;
  auto const when = wrong_tokens_.begin(now, pending_peers::host_of(peer));
  if (when <= now) return false;
  if (!since) since = now;
  slowed_.emplace(when, id);
  return true;
}

void dispatch::go_on_slowed(time_point now) {
  while (!slowed_.empty() && slowed_.begin()->first <= now) {
    auto const id = slowed_.extract(slowed_.begin()).mapped();
    if (auto* const on = lines_.find(id)) lines_.changed(now, id, *on);
  }
}

// Passes a reply to a trunk without a detour, with a body for all of its routes that get the same.
// False if it must wait for what the route has, or is to be its last.
bool dispatch::share(time_point now, core::outgoing const& what, line& on) {
  if (!on.out.empty() || on.out.holds() || on.out.ends() ||
      std::holds_alternative<core::goodbye>(what.what->value)) {
    return false;
  }
  line& carrier = *lines_.find(on.route->trunk);
  trunk_line& t = *carrier.trunk;
  if (carrier.out.ends() || carrier.out.queued_bytes() + t.shared_bytes >= trunk_queued_max) {
    return false;
  }
  auto const size = encoder_.encode(what.what).size();
  auto const bytes = wire::shared_frame_bytes(what.in_reply_to, size);
  if (size > wire::route_shared_max || bytes > on.route->room) return false;
  auto& all = t.shared;
  if (all.empty() || all.back().what != what.what) {
    all.push_back({what.what, {}});
    t.shared_bytes += size;
  }
  wire::append_receiver(all.back().to, {on.route->number, what.in_reply_to});
  on.route->room -= bytes;
  ++replies_shared_;
  lines_.changed(now, on.route->trunk, carrier);
  return true;
}

// Moves the output of its routes to a trunk, in turn, as far as the relay takes it.
void dispatch::pump_routes(time_point now, line& on) {
  on.trunk->shared_bytes = 0;
  for (auto const& frame : std::exchange(on.trunk->shared, {})) {
    if (on.out.ends()) break;
    auto const& reply = encoder_.encode(frame.what);
    std::string_view rest = reply.copied;
    std::string whole;
    if (rest.size() != reply.size()) {
      rest = whole.append(rest).append(reply.shared.view()).append(reply.tail.view());
    }
    on.out.append([&](std::string& to) { wire::append_shared(to, rest, frame.to); });
  }
  auto& waiting = on.trunk->to_send;
  while (!waiting.empty() && on.out.queued_bytes() < trunk_queued_max && !on.out.is_abandoned()) {
    auto const next = waiting.front();
    waiting.pop_front();
    auto* const line = lines_.find(next);
    if (line == nullptr) continue;
    line->dirty = false;
    if (line->out.ends() && is_slowed(now, next, *line)) continue;
    if (line->grpc) grpc_.pump(now, next, *line);
    hold_back(next, *line);
    carry(now, next, *line, on.out);
    if (line->out.has_writable()) {
      if (line->route->room == 0) {
        lines_.write_blocked(now, next, *line);
      } else {
        line->dirty = true;
        waiting.push_back(next);
      }
    } else if (line->out.ends() && line->out.empty() && !line->broken) {
      on.out.append([&](std::string& to) { wire::append_closed(to, line->route->number); });
      end_route(now, next, *line);
    }
  }
  forget_encoded();
}

void dispatch::carry(time_point now, connection_id id, line& on, outbox& into) {
  std::array<iovec, routed_pieces_max> pieces;
  auto const filled = on.out.fill(pieces);
  std::size_t bytes = 0;
  for (auto const& part : filled) bytes += part.iov_len;
  bytes = std::min({bytes, on.route->room, wire::route_content_max});
  if (bytes == 0) return;
  into.append([&](std::string& to) {
    wire::append_content_head(to, on.route->number, bytes);
    std::size_t left = bytes;
    for (auto const& part : filled) {
      auto const some = std::min(left, part.iov_len);
      to.append(static_cast<char const*>(part.iov_base), some);
      left -= some;
    }
  });
  on.route->room -= bytes;
  on.out.written(bytes, encoder_);
  hold_back(id, on);
  lines_.write_progressed(now, id, on);
  if (on.tcp_store) return tcp_store_.wrote(now, id, on);
  lines_.notify_paused(now, id, on);
}

void dispatch::end_route(time_point now, connection_id id, line& on) {
  lines_.find(on.route->trunk)->trunk->routes.erase(on.route->number);
  lost(now, id, on.route->ended.value_or(core::loss::closed));
}

}  // namespace coxswain::server
