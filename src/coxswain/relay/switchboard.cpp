#include "coxswain/relay/switchboard.hpp"

#include <utility>

namespace coxswain::relay {
namespace {

constexpr std::size_t unreported_max = wire::route_room_max / 2;

// An idle route keeps no larger buffer.
constexpr std::size_t kept_capacity = 1024;

status violation(std::string_view what) {
  return {errc::invalid_argument,
          "the coordinator violates the protocol of routes: it " + std::string{what}};
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
  routes_.at(number).room -= bytes.size();
  while (!bytes.empty()) {
    auto const some = bytes.substr(0, wire::route_content_max);
    wire::append_content_head(output_, number, some.size());
    output_ += some;
    bytes.remove_prefix(some.size());
  }
}

void switchboard::closed(std::uint32_t number) {
  if (!at(number).ends) wire::append_closed(output_, number);
  routes_.erase(number);
}

status switchboard::received(std::string_view payload) {
  auto const what = wire::decode_routed(payload);
  if (!what) return what.error();
  auto const found = routes_.find(what->route);
  if (found == routes_.end()) {
    return what->route <= last_ ? status{} : violation("names a route that was never opened");
  }
  route& r = found->second;
  if (r.ends) return violation("goes on with a route that it has closed");
  using kind = wire::routed::kind;
  switch (what->what) {
    case kind::opened: return violation("opens a route");
    case kind::closed: r.ends = true; break;
    case kind::room:
      r.room += what->room;
      if (r.room > wire::route_room_max) return violation("has too much room for a route");
      break;
    case kind::content: {
      auto const unwritten = r.pending.size() - r.written;
      if (unwritten + r.unreported + what->content.size() > wire::route_room_max) {
        return violation("sends more than a route has room for");
      }
      r.pending += what->content;
      break;
    }
  }
  changed_.push_back(what->route);
  return {};
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
  r.unreported += bytes;
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
