#include "coxswain/relay/switchboard.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace coxswain::relay {
namespace {

constexpr std::size_t unreported_max = wire::route_room_max / 2;

constexpr std::size_t heartbeat_bytes_max = 16;

// An idle route keeps no larger buffer.
constexpr std::size_t kept_capacity = 1024;

status violation(std::string_view what) {
  return {errc::invalid_argument,
          "the coordinator violates the protocol of routes: it " + std::string{what}};
}

// The payload of a heartbeat, if these bytes are exactly its frame.
std::optional<std::string_view> heartbeat_in(std::string_view bytes) {
  if (bytes.size() < wire::length_bytes || bytes.size() > heartbeat_bytes_max) return std::nullopt;
  auto const payload = bytes.substr(wire::length_bytes);
  std::string length;
  wire::append_length(length, payload.size());
  if (!bytes.starts_with(length) || !wire::is_heartbeat(payload)) return std::nullopt;
  return payload;
}

}  // namespace

std::uint32_t switchboard::open(core::session_secret const& secret, std::string_view peer) {
  routes_.try_emplace(++last_);
  wire::append_opened(output_, last_, secret, peer.substr(0, wire::route_peer_max));
  return last_;
}

std::size_t switchboard::room(std::uint32_t number) const {
  auto const& r = at(number);
  return r.ends ? 0 : r.room;
}

void switchboard::content(std::uint32_t number, std::string_view bytes) {
  route& r = routes_.at(number);
  r.was_heard = true;
  if (takes_heartbeat(r, bytes)) return changed_.push_back(number);
  note_input(r, bytes);
  r.room -= bytes.size();
  while (!bytes.empty()) {
    auto const some = bytes.substr(0, wire::route_content_max);
    wire::append_content_head(output_, number, some.size());
    output_ += some;
    bytes.remove_prefix(some.size());
  }
}

// The reply goes to the client if it may be the next frame there.
bool switchboard::takes_heartbeat(route& r, std::string_view bytes) {
  bool const is_idle = r.was_answered && r.pending.empty() && r.from_client.is_between_frames() &&
                       r.to_client.is_between_frames();
  if (!replies_ || !is_idle || heartbeat_in(bytes) != r.heartbeat) return false;
  r.pending = reply_;
  r.replied = reply_.size();
  return true;
}

void switchboard::note_input(route& r, std::string_view bytes) {
  r.was_answered = false;
  r.heartbeat.clear();
  r.awaits_reply = false;
  if (r.from_client.is_between_frames()) {
    if (auto const beat = heartbeat_in(bytes)) {
      r.heartbeat = *beat;
      r.awaits_reply = true;
    }
  }
  r.from_client.pass(bytes);
}

void switchboard::report_living() {
  std::vector<std::uint32_t> silent;
  for (auto& [number, r] : routes_) {
    if (!std::exchange(r.was_heard, false)) silent.push_back(number);
  }
  std::sort(silent.begin(), silent.end());
  wire::append_living(output_, silent);
}

void switchboard::closed(std::uint32_t number, bool has_exited) {
  if (!at(number).ends) wire::append_closed(output_, number, has_exited);
  routes_.erase(number);
}

status switchboard::received(std::string_view payload) {
  auto const what = wire::decode_routed(payload);
  if (!what) return what.error();
  if (what->what == wire::routed::kind::shared) return take_shared(*what);
  auto const found = routes_.find(what->route);
  if (found == routes_.end()) {
    return what->route <= last_ ? status{} : violation("names a route that was never opened");
  }
  route& r = found->second;
  if (r.ends) return violation("goes on with a route that it has closed");
  using kind = wire::routed::kind;
  switch (what->what) {
    case kind::opened: return violation("opens a route");
    case kind::living: return violation("lists silent routes");
    case kind::shared: break;
    case kind::closed: r.ends = true; break;
    case kind::room:
      r.room += what->room;
      if (r.room > wire::route_room_max) return violation("has too much room for a route");
      break;
    case kind::content: return take_content(what->route, r, {}, what->content);
  }
  changed_.push_back(what->route);
  return {};
}

status switchboard::take_content(std::uint32_t number, route& r, std::string_view head,
                                 std::string_view rest) {
  auto const bytes = head.size() + rest.size();
  auto const unwritten = r.pending.size() - r.written - r.replied;
  if (unwritten + r.unreported + bytes > wire::route_room_max) {
    return violation("sends more than a route has room for");
  }
  r.to_client.pass(head);
  r.to_client.pass(rest);
  r.pending.append(head).append(rest);
  r.was_answered =
      std::exchange(r.awaits_reply, false) && bytes == reply_.size() && r.pending.ends_with(reply_);
  changed_.push_back(number);
  return {};
}

status switchboard::take_shared(wire::routed const& what) {
  auto to = what.to;
  std::string head;
  while (auto const receiver = wire::take_receiver(to)) {
    auto const found = routes_.find(receiver->route);
    if (found == routes_.end() || found->second.ends) {
      if (found == routes_.end() && receiver->route <= last_) continue;
      return violation("shares a reply with a route that is not open");
    }
    head.clear();
    wire::append_server_head(head, receiver->id, what.content.size());
    status why = take_content(receiver->route, found->second, head, what.content);
    if (!why.ok()) return why;
  }
  return to.empty() ? status{} : violation("shares a reply with nobody");
}

void switchboard::take_changed(std::vector<std::uint32_t>& into) {
  into.clear();
  into.swap(changed_);
  std::erase_if(into, [this](std::uint32_t number) { return !routes_.contains(number); });
}

std::string_view switchboard::to_write(std::uint32_t number) const {
  auto const& r = at(number);
  return std::string_view{r.pending}.substr(r.written);
}

void switchboard::wrote(std::uint32_t number, std::size_t bytes) {
  route& r = routes_.at(number);
  r.written += bytes;
  auto const own = std::min(r.replied, bytes);
  r.replied -= own;
  r.unreported += bytes - own;
  if (r.written == r.pending.size()) {
    r.written = 0;
    r.pending.clear();
    if (r.pending.capacity() > kept_capacity) std::string{}.swap(r.pending);
  }
  if (r.ends || r.unreported < unreported_max) return;
  auto const room = static_cast<std::uint32_t>(std::exchange(r.unreported, 0));
  wire::append_room(output_, number, room);
}

bool switchboard::ends(std::uint32_t number) const { return at(number).ends; }

void switchboard::reset() {
  routes_.clear();
  changed_.clear();
  output_.clear();
  last_ = 0;
}

}  // namespace coxswain::relay
