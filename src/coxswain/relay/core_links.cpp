#include "coxswain/relay/core_links.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace coxswain::relay {
namespace {

constexpr duration retry_pause = 200ms;

// Of an open request beside its frame, in memory.
constexpr std::size_t request_overhead = 256;

}  // namespace

connection_id core_links::connected(time_point /*now*/, std::string peer,
                                    core::session_secret const& secret) {
  connection_id const id{next_++};
  link& l = links_[id];
  l.peer = std::move(peer);
  l.secret = secret;
  if (has_trunk_) open_route(l, id);
  return id;
}

void core_links::received(time_point /*now*/, connection_id from, core::client_message&& what) {
  auto const found = links_.find(from);
  if (found == links_.end()) return;
  link& l = found->second;
  l.received = std::max(l.received, what.answered_through);
  if (std::holds_alternative<core::hello_args>(what.what)) {
    l.hello = std::move(what);
    return greet(l);
  }
  if (auto const* const resume = std::get_if<core::resume_args>(&what.what)) {
    l.session = *resume;
    l.service_resumes = true;
    for (request_id const id : resume->open) l.open[id].was_sent = true;
    return greet(l);
  }
  if (auto const* const cancel = std::get_if<core::cancel_args>(&what.what)) {
    // One that a Resume does not list is cancelled, too.
    answered(l, cancel->request);
  }
  if (std::holds_alternative<core::bye_args>(what.what)) {
    l.leaves = true;
    if (l.is_up) return say_bye(l);
    if (l.open.empty()) session_lost({}, from, core::loss::closed);
    return;
  }
  if (what.id == request_id{}) {
    if (l.is_up) send(l, what);
    return;
  }
  auto& request = l.open[what.id];
  request.what = std::move(what);
  std::string frame;
  wire::append_frame(frame, *request.what);
  request.bytes = frame.size() + request_overhead;
  open_bytes_ += request.bytes;
  l.open_bytes += request.bytes;
  if (l.is_up) send(l, request);
}

void core_links::heard(time_point /*now*/, connection_id from) {
  auto const found = links_.find(from);
  if (found == links_.end() || !found->second.is_up || !found->second.out.empty()) return;
  core::client_message heartbeat;
  send(found->second, heartbeat);
}

void core_links::session_lost(time_point /*now*/, connection_id from, core::loss how) {
  auto const found = links_.find(from);
  if (found == links_.end()) return;
  link& l = found->second;
  if (l.route != 0 && how == core::loss::unreachable) {
    by_route_.erase(l.route);
    silent_.insert(std::exchange(l.route, 0));
  }
  close_route(l, how == core::loss::exited);
  forget(from);
}

void core_links::trunk_up() {
  has_trunk_ = true;
  for (auto& [id, l] : links_) open_route(l, id);
}

void core_links::trunk_down() {
  has_trunk_ = false;
  by_route_.clear();
  held_back_.clear();
  silent_.clear();
  later_ = {};
  for (auto& [_, l] : links_) {
    l.route = 0;
    close_route(l, false);
  }
  std::erase_if(links_,
                [](auto const& entry) { return entry.second.leaves && entry.second.open.empty(); });
}

void core_links::trunk_over(status const& why) {
  trunk_down();
  for (auto const& [id, _] : links_) deliver(id, {}, {{}, core::goodbye{why, false}});
}

bool core_links::changed(time_point now, std::uint32_t route) {
  if (silent_.contains(route)) {
    board_.wrote(route, board_.to_write(route).size());
    if (board_.ends(route)) {
      board_.closed(route);
      silent_.erase(route);
    }
    return true;
  }
  auto const found = by_route_.find(route);
  if (found == by_route_.end()) return false;
  connection_id const id = found->second;
  read(now, id, links_.at(id));
  auto const still = links_.find(id);
  if (still == links_.end() || still->second.route != route) return true;
  if (board_.ends(route)) {
    try_later(now, id, still->second);
  } else {
    push(still->second);
  }
  return true;
}

void core_links::read_held_back(time_point now) {
  for (auto const route : std::exchange(held_back_, {})) {
    if (by_route_.contains(route)) changed(now, route);
  }
}

std::optional<time_point> core_links::next_deadline() const {
  if (later_.empty()) return std::nullopt;
  return later_.front().first;
}

void core_links::advance(time_point now) {
  for (; !later_.empty() && later_.front().first <= now; later_.pop_front()) {
    auto const found = links_.find(later_.front().second);
    if (found == links_.end() || found->second.route != 0 || !has_trunk_) continue;
    open_route(found->second, found->first);
  }
}

std::size_t core_links::open_bytes(connection_id of) const {
  auto const found = links_.find(of);
  return found == links_.end() ? 0 : found->second.open_bytes;
}

void core_links::take_outgoing(std::vector<core::outgoing>& into) {
  into.clear();
  into.swap(out_);
}

void core_links::open_route(link& l, connection_id of) {
  l.route = board_.open(l.secret, l.peer);
  by_route_.emplace(l.route, of);
  greet(l);
}

void core_links::close_route(link& l, bool has_exited) {
  if (l.route != 0) {
    by_route_.erase(l.route);
    board_.closed(l.route, has_exited);
  }
  l.route = 0;
  l.is_up = false;
  l.out.clear();
  l.decoder = wire::frame_decoder{wire::message_bytes_max};
}

void core_links::greet(link& l) {
  if (l.route == 0) return;
  if (!l.session) {
    if (l.hello) send(l, *l.hello);
    return;
  }
  ++l.session->resume_count;
  core::resume_args again = *l.session;
  again.open.clear();
  for (auto const& [id, request] : l.open) {
    if (request.was_sent) again.open.push_back(id);
  }
  core::client_message resume;
  resume.what = std::move(again);
  send(l, resume);
}

void core_links::send(link& l, open_request& request) {
  request.was_sent = true;
  send(l, *request.what);
}

void core_links::send(link& l, core::client_message& what) {
  what.answered_through = l.received;
  wire::append_frame(l.out, what);
  push(l);
}

void core_links::say_bye(link& l) {
  core::client_message bye;
  bye.what = core::bye_args{};
  send(l, bye);
}

void core_links::push(link& l) {
  auto const some = std::min(board_.room(l.route), l.out.size());
  if (some == 0) return;
  board_.content(l.route, std::string_view{l.out}.substr(0, some));
  l.out.erase(0, some);
}

void core_links::read(time_point now, connection_id id, link& l) {
  auto const route = l.route;
  if (is_held_back_ && is_held_back_(id)) {
    held_back_.insert(route);
    return;
  }
  std::string const bytes{board_.to_write(route)};
  if (bytes.empty()) return;
  board_.wrote(route, bytes.size());
  l.decoder.feed(bytes);
  for (;;) {
    auto const frame = l.decoder.next();
    if (frame && !*frame) return;
    auto what = frame ? wire::decode_server(**frame) : frame.error();
    if (!what) {
      auto const why = what.error();
      deliver(id, {}, {{}, core::goodbye{why, false}});
      close_route(l, false);
      return forget(id);
    }
    take(now, id, l, std::move(*what));
    if (!links_.contains(id) || l.route != route) return;
  }
}

void core_links::take(time_point now, connection_id id, link& l, wire::server_message what) {
  if (what.id != request_id{}) {
    ++l.received;
    answered(l, what.id);
    return deliver(id, what.id, std::move(what.what));
  }
  auto const& value = what.what.value;
  if (auto const* const bye = std::get_if<core::goodbye>(&value)) {
    if (bye->may_resume || (!l.is_up && bye->why.code() == errc::unavailable)) {
      return try_later(now, id, l);
    }
    deliver(id, {}, std::move(what.what));
    close_route(l, false);
    return forget(id);
  }
  if (auto const* const resume = std::get_if<core::resume_answer>(&value)) {
    return resumed(id, l, *resume);
  }
  if (auto const* const hello = std::get_if<boxed<core::hello_answer>>(&value)) {
    l.session.emplace();
    l.session->session = (*hello)->session;
    l.session->secret = (*hello)->secret;
    l.session->coordinator = (*hello)->coordinator;
    l.session->term_seen = (*hello)->term;
    went_up(l, {});
  }
  deliver(id, {}, std::move(what.what));
}

// In the order of their ids: those that are unknown come before those that were never sent.
void core_links::went_up(link& l, std::vector<request_id> const& unknown) {
  l.is_up = true;
  for (auto& [id, request] : l.open) {
    if (!request.was_sent || std::binary_search(unknown.begin(), unknown.end(), id))
      send(l, request);
  }
  if (l.leaves) say_bye(l);
}

void core_links::resumed(connection_id id, link& l, core::resume_answer const& what) {
  l.session->term_seen = std::max(l.session->term_seen, what.term);
  core::resume_answer lost;
  for (request_id const request : what.unknown) {
    auto const found = l.open.find(request);
    if (found == l.open.end() || found->second.what) continue;
    lost.unknown.push_back(request);
    l.open.erase(found);
  }
  if (std::exchange(l.service_resumes, false) || !lost.unknown.empty()) {
    deliver(id, {}, {{}, std::move(lost)});
  }
  went_up(l, what.unknown);
}

void core_links::answered(link& l, request_id id) {
  auto const found = l.open.find(id);
  if (found == l.open.end()) return;
  open_bytes_ -= found->second.bytes;
  l.open_bytes -= found->second.bytes;
  l.open.erase(found);
}

void core_links::try_later(time_point now, connection_id id, link& l) {
  close_route(l, false);
  later_.push_back({deadline_after(now, retry_pause), id});
}

void core_links::deliver(connection_id to, request_id reply_to, core::answer what) {
  out_.push_back({to, reply_to, core::make_answer(std::move(what))});
}

void core_links::forget(connection_id id) {
  auto const found = links_.find(id);
  open_bytes_ -= found->second.open_bytes;
  links_.erase(found);
}

}  // namespace coxswain::relay
