#include "coxswain/core/kernel/sessions.hpp"

#include "coxswain/core/kernel/counted_answer.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace coxswain::core {
namespace {

// The memory of a kept reply and a parked request, without the answer, which is counted separately.
std::size_t kept_bytes(kept_reply const& k) { return sizeof(kept_reply) + k.hands_over.cost(); }
// Where it waits, a name has a copy, nodes around it, and an alarm.
std::size_t parked_bytes(parked const& p) {
  return sizeof(parked) + 128 + (p.name.empty() ? 0 : 2 * p.name.cost() + 160);
}

}  // namespace

sessions::~sessions() {
  sessions_.each([this](session_id, session& s) {
    while (!s.kept.empty()) forget_first(s);
    s.open.each([&](request_id, parked const& p) { uncount(s, parked_bytes(p)); });
  });
}

void sessions::count_all() {
  sessions_.each([this](session_id, session& s) {
    s.open.each([&](request_id, parked const& p) { count(s, parked_bytes(p)); });
    for (kept_reply const& k : s.kept) {
      count(s, kept_bytes(k));
      core::hold(holder::core, *k.what, *memory_);
    }
  });
}

parked const* sessions::parked_at(ticket who) const {
  session const* const s = find(who.session);
  return s ? s->open.look(who.request) : nullptr;
}

void sessions::erase(session_id id) {
  session& s = *find(id);
  assert(s.open.empty());
  while (!s.kept.empty()) forget_first(s);
  shares_.subtract(s.memory, s.memory.held);  // of rounds that it had opened
  sessions_.erase(id);
}

bool sessions::acknowledge(session& s, std::uint64_t answered_through) {
  if (answered_through > s.replies_sent) return false;
  if (answered_through <= s.answered_through) return true;
  s.answered_through = answered_through;
  while (!s.kept.empty() && s.kept.front().ordinal <= answered_through) forget_first(s);
  return true;
}

bool sessions::admit(session& s, request_id id) {
  if (id > s.highest) {
    s.highest = id;
    return true;
  }
  auto const at = std::lower_bound(s.expected.begin(), s.expected.end(), id);
  if (at == s.expected.end() || *at != id) return false;
  s.expected.erase(at);
  return true;
}

void sessions::park(session& s, request_id id, parked&& p) {
  count(s, parked_bytes(p));
  s.open.add(id, std::move(p));
}

std::optional<parked> sessions::unpark(ticket who) {
  session* const s = find(who.session);
  if (!s) return std::nullopt;
  auto p = s->open.take(who.request);
  if (p) uncount(*s, parked_bytes(*p));
  return p;
}

void sessions::reply(ticket who, answer_ptr what, bool keep, bool is_leave) {
  send(who, std::move(what), keep, is_leave, {}, {});
}

void sessions::hand_over(ticket who, answer_ptr what, concern_index of, std::string name) {
  send(who, std::move(what), true, false, of, std::move(name));
}

void sessions::send(ticket who, answer_ptr what, bool keep, bool is_leave, concern_index of,
                    rare_string hands_over) {
  session* const s = find(who.session);
  if (!s) return;
  bool const attached = s->attached != connection_id{};
  std::uint64_t const ordinal = attached ? ++s->replies_sent : 0;
  if (keep) {
    s->kept.push_back({ordinal, who.request, what, std::move(hands_over), of, is_leave});
    count(*s, kept_bytes(s->kept.back()));
    core::hold(holder::core, *what, *memory_);
  }
  if (!attached) return;
  s->wrote_since_heartbeat = true;
  out_.push_back({s->attached, who.request, std::move(what)});
}

std::vector<undelivered> sessions::take_back(
    session& s, std::function<bool(kept_reply const&)> const& is_taken) {
  std::vector<undelivered> taken;
  s.kept.erase_if([&](kept_reply& k) {
    if (k.hands_over.empty() || !is_taken(k)) return false;
    forget(s, k);
    taken.push_back({k.of, k.hands_over.get(), k.what});
    return true;
  });
  return taken;
}

std::vector<undelivered> sessions::take_undelivered(session& s) {
  return take_back(s, [](kept_reply const&) { return true; });
}

std::vector<undelivered> sessions::take_unwanted(session& s, std::uint64_t answered_through,
                                                 std::vector<request_id> const& open) {
  return take_back(s, [&](kept_reply const& k) {
    bool const is_received = k.ordinal != 0 && k.ordinal <= answered_through;
    return !is_received && !std::binary_search(open.begin(), open.end(), k.request);
  });
}

std::vector<undelivered> sessions::take_cancelled(session& s, request_id id) {
  return take_back(s, [&](kept_reply const& k) { return k.request == id; });
}

void sessions::push(session& s, answer_ptr what) {
  if (s.attached == connection_id{}) return;
  s.wrote_since_heartbeat = true;
  push(s.attached, std::move(what));
}

void sessions::push(connection_id to, answer_ptr what) {
  out_.push_back({to, request_id{}, std::move(what)});
}

std::vector<request_id> sessions::resume(session& s, std::uint64_t answered_through,
                                         std::vector<request_id> const& open) {
  s.kept.erase_if([&](kept_reply const& k) {
    if (std::binary_search(open.begin(), open.end(), k.request)) return false;
    forget(s, k);
    return true;
  });
  s.replies_sent = answered_through;
  s.answered_through = answered_through;
  std::vector<request_id> kept;
  for (kept_reply const& k : s.kept) kept.push_back(k.request);
  std::sort(kept.begin(), kept.end());
  std::vector<request_id> unknown;
  for (request_id const id : open) {
    bool const is_kept = std::binary_search(kept.begin(), kept.end(), id);
    if (!is_kept && !s.open.contains(id)) unknown.push_back(id);
  }
  s.expected.clear();
  std::copy_if(unknown.begin(), unknown.end(), std::back_inserter(s.expected),
               [&](request_id id) { return id <= s.highest; });
  return unknown;
}

void sessions::send_kept(session& s) {
  for (kept_reply& k : s.kept) {
    k.ordinal = ++s.replies_sent;
    out_.push_back({s.attached, k.request, k.what});
  }
  if (!s.kept.empty()) s.wrote_since_heartbeat = true;
}

void sessions::count(session& s, std::size_t bytes) {
  memory_->add(bytes);
  shares_.add(s.memory, bytes);
}

void sessions::uncount(session& s, std::size_t bytes) {
  memory_->subtract(bytes);
  shares_.subtract(s.memory, bytes);
}

status sessions::room_for(session const& s, std::size_t more, bool waits) const {
  if (status why = shares::own_room(s.memory, more, *memory_); !why.ok()) return why;
  return waits ? shares_.common_room(s.memory, more, *memory_) : status{};
}

void sessions::forget(session& s, kept_reply const& k) {
  uncount(s, kept_bytes(k));
  core::let_go(holder::core, *k.what, *memory_);
}

void sessions::forget_first(session& s) {
  forget(s, s.kept.front());
  s.kept.pop_front();
}

}  // namespace coxswain::core
