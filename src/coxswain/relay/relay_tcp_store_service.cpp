#include "coxswain/relay/relay_tcp_store_service.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::relay {
namespace {

// A larger request waits until there is memory for it.
constexpr std::size_t unasked_max = 16 * 1024;

// A client with more unread replies is not read, and gets no further ones meanwhile.
constexpr std::size_t client_unread_max = 64 * 1024;

// Requests that wait for the coordinator, of one client, and of all as a part of the memory; beyond
// them nothing is read.
constexpr std::size_t client_open_max = 256 * 1024;
constexpr std::size_t part_for_open = 4;

// When there was no memory for a request.
constexpr duration memory_pause = 50ms;

}  // namespace

relay_tcp_store_service::client::client(std::size_t bytes_max, memory_meter* memory,
                                        std::string who)
    : requests{bytes_max, unasked_max, memory},
      meaning{bytes_max, memory},
      peer{std::move(who)},
      counted{memory} {}

bool relay_tcp_store_service::client::is_full() const noexcept {
  return out.size() - written > client_unread_max;
}

relay_tcp_store_service::relay_tcp_store_service(switchboard& board, options o,
                                                 core::hello_answer const& terms, event_sink log,
                                                 meter_ptr memory)
    : relay_service{board, first_client, o.stalled_max, std::move(log), std::move(memory)},
      hello_{tcp_store::client::hello(std::move(o.job), std::move(o.token))},
      request_bytes_max_{std::min(largest_message(terms), memory_->limit() / 4)},
      heartbeat_period_{terms.heartbeat_period > duration::zero() ? terms.heartbeat_period
                                                                  : terms.heartbeat_timeout / 3} {
  links_.hold_back([this](connection_id id) {
    auto const found = clients_.find(static_cast<std::uint32_t>(id.value));
    return found != clients_.end() && found->second->is_full();
  });
}

std::uint32_t relay_tcp_store_service::open(std::string peer, core::session_secret const& secret) {
  auto const id = links_.connected(now_, peer, secret);
  auto const number = static_cast<std::uint32_t>(id.value);
  auto made = std::make_unique<client>(request_bytes_max_, memory_.get(), std::move(peer));
  clients_.emplace(number, std::move(made));
  auto hello = hello_;
  links_.received(now_, id, std::move(hello));
  if (!heartbeats_at_) heartbeats_at_ = next_heartbeats();
  return number;
}

// A client may send nothing for hours.
std::optional<time_point> relay_tcp_store_service::next_heartbeats() const {
  if (heartbeat_period_ <= duration::zero()) return std::nullopt;
  return deadline_after(now_, heartbeat_period_);
}

// What it has sent still takes effect.
void relay_tcp_store_service::close(std::uint32_t number, core::loss /*how*/) {
  stalled_.forget(number);
  if (auto& of = *clients_.at(number); !of.ends) {
    tcp_store::output last;
    if (to_write(number).empty()) of.meaning.closed_in_order(last);
    for (auto& input : last.to_core) links_.received(now_, connection_id{number}, std::move(input));
    leave(number);
  }
  clients_.erase(number);
  read_held_back();
}

void relay_tcp_store_service::leave(std::uint32_t number) {
  core::client_message bye;
  bye.what = core::bye_args{};
  links_.received(now_, connection_id{number}, std::move(bye));
}

bool relay_tcp_store_service::may_go_on(std::uint32_t number, client const& of) const {
  bool const is_full = links_.open_bytes() > memory_->limit() / part_for_open;
  was_full_ |= is_full;
  return !of.ends && !of.is_full() && !is_full &&
         links_.open_bytes(connection_id{number}) <= client_open_max;
}

std::size_t relay_tcp_store_service::room(std::uint32_t number) const {
  auto const& of = *clients_.at(number);
  return of.unread.empty() && may_go_on(number, of) ? wire::route_room_max : 0;
}

void relay_tcp_store_service::content(std::uint32_t number, std::string_view bytes) {
  auto& of = *clients_.at(number);
  of.unread += bytes;
  take_input(number, of);
}

void relay_tcp_store_service::take_input(std::uint32_t number, client& of) {
  auto const input = std::exchange(of.unread, {});
  std::string_view rest{input};
  changed_.push_back(number);
  while (may_go_on(number, of)) {
    auto found = of.requests.next(rest);
    if (!found) return end(number, of, found.error());
    if (*found) {
      tcp_store::output what;
      status why = of.meaning.received(std::move(**found), what);
      if (!why.ok()) return end(number, of, why);
      apply(number, of, std::move(what));
    } else if (of.requests.asks_for() == 0) {
      break;
    } else if (memory_->fits_in_transit(of.requests.asks_for())) {
      of.requests.allow();
    } else {
      lacks_memory_ = true;
      break;
    }
  }
  of.unread = rest;
}

void relay_tcp_store_service::apply(std::uint32_t number, client& of, tcp_store::output&& what) {
  for (auto& input : what.to_core) links_.received(now_, connection_id{number}, std::move(input));
  if (what.to_client.empty() || of.ends) return;
  // What was written of it does not accumulate.
  if (of.written > of.out.size() / 2) of.out.erase(0, std::exchange(of.written, 0));
  for (auto const& piece : what.to_client) of.out.append(piece.copied).append(piece.shared.view());
  of.counted.count(of.out.capacity());
  stalled_.waits(number, now_, false);
  changed_.push_back(number);
}

// Its last replies still go to it.
void relay_tcp_store_service::end(std::uint32_t number, client& of, status const& why) {
  if (of.ends) return;
  if (!why.ok() && log_) {
    log_(core::severity::warning, "connection from " + of.peer + " ended: " + why.message());
  }
  of.ends = true;
  of.unread = {};
  leave(number);
  changed_.push_back(number);
}

std::string_view relay_tcp_store_service::to_write(std::uint32_t number) const {
  auto const& of = *clients_.at(number);
  return std::string_view{of.out}.substr(of.written);
}

void relay_tcp_store_service::wrote(std::uint32_t number, std::size_t bytes) {
  auto& of = *clients_.at(number);
  of.written += bytes;
  if (of.written < of.out.size()) {
    stalled_.waits(number, now_, true);
  } else {
    stalled_.forget(number);
    of.out = {};
    of.written = 0;
    of.counted.count(0);
  }
  if (!of.unread.empty()) take_input(number, of);
  read_held_back();
}

bool relay_tcp_store_service::ends(std::uint32_t number) const { return clients_.at(number)->ends; }

void relay_tcp_store_service::settle() {
  for (links_.take_outgoing(outgoing_); !outgoing_.empty(); links_.take_outgoing(outgoing_)) {
    for (auto const& message : outgoing_) take(message);
  }
}

void relay_tcp_store_service::take(core::outgoing const& what) {
  auto const number = static_cast<std::uint32_t>(what.to.value);
  auto const found = clients_.find(number);
  if (found == clients_.end()) return;
  auto& of = *found->second;
  tcp_store::output out;
  auto const verdict = of.meaning.answered(what, out);
  apply(number, of, std::move(out));
  if (verdict.what == tcp_store::client::fate::ends) return end(number, of, verdict.why);
  if (!of.unread.empty()) take_input(number, of);
  changed_.push_back(number);  // it may have room again
}

std::optional<time_point> relay_tcp_store_service::next_deadline() const {
  auto next = links_.next_deadline().value_or(time_point::max());
  next = std::min(next, stalled_.next_deadline().value_or(time_point::max()));
  next = std::min(next, heartbeats_at_.value_or(time_point::max()));
  if (lacks_memory_) next = std::min(next, now_ + memory_pause);
  return next == time_point::max() ? std::nullopt : std::optional{next};
}

void relay_tcp_store_service::advance(bool /*reads*/) {
  links_.advance(now_);
  if (heartbeats_at_ && *heartbeats_at_ <= now_) {
    heartbeats_at_ = clients_.empty() ? std::nullopt : next_heartbeats();
    for (auto const& [number, _] : clients_) links_.heard(now_, connection_id{number});
  }
  settle();
  read_held_back();
  bool const has_room = was_full_ && links_.open_bytes() <= memory_->limit() / part_for_open;
  if (std::exchange(lacks_memory_, false) || has_room) go_on_all();
}

void relay_tcp_store_service::go_on_all() {
  was_full_ = false;
  for (auto const& [number, of] : clients_) {
    if (!of->unread.empty()) take_input(number, *of);
    changed_.push_back(number);
  }
}

void relay_tcp_store_service::take_changed(std::vector<std::uint32_t>& into) {
  into.clear();
  into.swap(changed_);
  std::erase_if(into, [this](std::uint32_t number) { return !clients_.contains(number); });
}

}  // namespace coxswain::relay
