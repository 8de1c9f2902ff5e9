#include "coxswain/relay/relay_xla_service.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/server/dispatch/grpc_calls.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace coxswain::relay {
namespace {

// Requests that wait for the coordinator; beyond them no client is read.
constexpr std::size_t open_max = 64 * 1024 * 1024;

// Replies that a client does not read.
constexpr std::size_t unread_max = 64 * 1024 * 1024;

// A client with more unread bytes gets no further replies from the coordinator meanwhile.
constexpr std::size_t unsent_bytes_max = 1024 * 1024;

// Of answers that no window holds back, such as errors: with more of them, nothing is read.
constexpr std::size_t answers_max = 64 * 1024;

// Of a client in an iteration, in bytes; a call counts like 4 KiB.
constexpr std::size_t work_max = 512 * 1024;
constexpr std::size_t call_work = 4'096;

// Of the memory, for requests of one connection that arrive unasked.
constexpr std::size_t part_for_arriving = 16;

constexpr std::size_t output_at_once = 64 * 1024;

http2::limits limits_for(std::size_t message_max, std::size_t memory_max) {
  http2::limits made;
  made.message_bytes_max = std::min(message_max, memory_max / 4);
  made.arriving_bytes_max = std::min(made.arriving_bytes_max, memory_max / part_for_arriving);
  return made;
}

xla::xla_service_options completed(xla::xla_service_options o, core::hello_answer const& terms,
                                   std::size_t reply_max) {
  o.num_tasks = terms.num_tasks;
  o.alive_timeout = without_limit;
  o.heartbeat_timeout = terms.heartbeat_timeout;
  o.session_time = deadline_after(time_point{}, terms.heartbeat_timeout) - time_point{};
  o.session_time += terms.reconnect_grace;
  o.reply_bytes_max = reply_max;
  return o;
}

}  // namespace

relay_xla_service::relay_xla_service(switchboard& board, xla::xla_service_options o,
                                     core::hello_answer const& terms, duration stalled_max,
                                     event_sink log, meter_ptr memory)
    : relay_service{board, first_client, stalled_max, std::move(log), std::move(memory)},
      limits_{limits_for(largest_message(terms), memory_->limit())},
      service_{
          completed(std::move(o), terms, std::min(largest_message(terms), memory_->limit() / 8)),
          terms.coordinator, links_, memory_} {
  links_.hold_back([this](connection_id id) { return is_full(service_.client_of(id)); });
}

bool relay_xla_service::is_full(connection_id of) const {
  auto const found = clients_.find(static_cast<std::uint32_t>(of.value));
  return found != clients_.end() && found->second->session.unsent_bytes() > unsent_bytes_max;
}

void relay_xla_service::begin(time_point now) noexcept {
  now_ = now;
  service_.begin();
}

std::uint32_t relay_xla_service::open(std::string peer, core::session_secret const& secret) {
  auto const id = links_.connected(now_, peer, secret);
  auto const number = static_cast<std::uint32_t>(id.value);
  clients_.emplace(number, std::make_unique<client>(limits_, memory_.get(), frames_, peer));
  service_.opened(now_, id, std::move(peer), secret);
  settle();
  return number;
}

void relay_xla_service::close(std::uint32_t number, core::loss how) {
  stalled_.forget(number);
  clients_.erase(number);
  connection_id const id{number};
  service_.lost(now_, id, how);
  links_.session_lost(now_, id, how);
  settle();
}

std::size_t relay_xla_service::room(std::uint32_t number) const {
  auto const& of = *clients_.at(number);
  if (!of.unread.empty() || of.session.answer_bytes() > answers_max) return 0;
  if (links_.open_bytes() <= open_max) return wire::route_room_max;
  was_full_ = true;
  return 0;
}

void relay_xla_service::content(std::uint32_t number, std::string_view bytes) {
  auto& of = *clients_.at(number);
  connection_id const id{number};
  service_.heard(now_, id);
  of.unread += bytes;
  take_input(number, of);
  read_held_back();
}

// As much as one client may do in an iteration; the rest goes on in the next.
void relay_xla_service::take_input(std::uint32_t number, client& of) {
  connection_id const id{number};
  auto const input = std::exchange(of.unread, {});
  std::string_view rest{input};
  std::size_t work = 0;
  auto const goes_on = [&] {
    return (!rest.empty() || of.session.has_events()) && of.session.answer_bytes() <= answers_max;
  };
  while (goes_on() && work < work_max) {
    found_.clear();
    rest.remove_prefix(of.session.receive(now_, rest, found_));
    work += of.session.work_bytes() + (found_.size() + 1) * call_work;
    for (auto const& call : found_) {
      server::pass_to(service_, now_, id, of.session, call, of.session.burden() > unread_max);
    }
    admit_large(of);
    settle();
    if (of.session.answer_bytes() > answers_max) pump(number, of);
  }
  of.unread = rest;
  if (goes_on()) going_on_.push_back(number);
  changed_.push_back(number);
  pump(number, of);
}

// Large requests arrive as far as there is memory.
void relay_xla_service::admit_large(client& of) {
  while (auto const call = of.session.asking()) {
    auto const bytes = of.session.asks_for();
    if (memory_->fits_in_transit(bytes)) {
      of.session.allow();
    } else {
      of.session.refuse(*call, {errc::resource_exhausted,
                                "the relay has no memory for the request of " +
                                    std::to_string(bytes) + " bytes; repeat the call later"});
    }
  }
}

std::string_view relay_xla_service::to_write(std::uint32_t number) const {
  auto const& of = *clients_.at(number);
  return std::string_view{of.out}.substr(of.written);
}

void relay_xla_service::wrote(std::uint32_t number, std::size_t bytes) {
  auto& of = *clients_.at(number);
  of.written += bytes;
  // Where its window is closed, these are no replies.
  pump(number, of, !of.session.waits_for_window());
  bool const may_go_on = of.session.answer_bytes() <= answers_max;
  if (may_go_on && (!of.unread.empty() || of.session.has_events())) going_on_.push_back(number);
  read_held_back();
}

bool relay_xla_service::ends(std::uint32_t number) const {
  auto const& session = clients_.at(number)->session;
  bool const is_over = clients_.at(number)->leaves || !session.wants_read();
  return is_over && !session.wants_write();
}

std::optional<time_point> relay_xla_service::next_deadline() const {
  auto const ours = links_.next_deadline();
  auto const services = service_.next_deadline();
  auto next = std::min(ours.value_or(time_point::max()), services.value_or(time_point::max()));
  if (!going_on_.empty()) return now_;
  next = std::min(next, stalled_.next_deadline().value_or(time_point::max()));
  return next == time_point::max() ? std::nullopt : std::optional{next};
}

void relay_xla_service::advance(bool reads) {
  links_.advance(now_);
  auto const due = service_.next_deadline();
  if (due && *due <= now_) service_.advance(now_);
  settle();
  for (auto const number : std::exchange(going_on_, {})) {
    if (auto const found = clients_.find(number); found != clients_.end()) {
      take_input(number, *found->second);
    }
  }
  read_held_back();
  // While clients are not read, their window updates are not either: nobody counts as stalled.
  if (!reads || links_.open_bytes() > open_max) stalled_.excuse(now_);
}

void relay_xla_service::take_changed(std::vector<std::uint32_t>& into) {
  into.clear();
  into.swap(changed_);
  if (was_full_ && links_.open_bytes() <= open_max) {
    was_full_ = false;
    for (auto const& [number, _] : clients_) into.push_back(number);
  }
  std::erase_if(into, [this](std::uint32_t number) { return !clients_.contains(number); });
}

// Passes the coordinator's messages to the service, and the service's effects to its clients.
void relay_xla_service::settle() {
  for (links_.take_outgoing(outgoing_); !outgoing_.empty(); links_.take_outgoing(outgoing_)) {
    for (auto const& message : outgoing_) service_.sent(now_, message);
  }
  service_.take_effects(effects_);
  for (auto& effect : effects_) apply(effect);
  effects_.clear();
}

void relay_xla_service::apply(xla::effect& what) {
  if (auto* const e = std::get_if<core::event>(&what)) {
    if (log_) log_(e->level, e->text);
    return;
  }
  connection_id to;
  if (auto const* const r = std::get_if<xla::reply>(&what)) to = r->to.on;
  if (auto const* const p = std::get_if<xla::ping>(&what)) to = p->to;
  if (auto const* const bye = std::get_if<xla::goodbye>(&what)) to = bye->to;
  auto const found = clients_.find(static_cast<std::uint32_t>(to.value));
  if (found == clients_.end()) return;
  client& of = *found->second;
  if (auto* const r = std::get_if<xla::reply>(&what)) {
    server::answer(of.session, *r);
  } else if (std::holds_alternative<xla::ping>(what)) {
    of.session.ping(0);
  } else if (!std::exchange(of.leaves, true)) {
    server::say_goodbye(of.session, std::get<xla::goodbye>(what).why.message());
  }
  changed_.push_back(found->first);
  pump(found->first, of);
}

// When all was written that was encoded, more is. `has_read`: the client has taken some of it.
void relay_xla_service::pump(std::uint32_t number, client& of, bool has_read) {
  if (of.written == of.out.size()) {
    of.out.clear();
    of.written = 0;
    if (of.session.wants_write()) of.session.append_output(of.out, output_at_once);
  }
  auto const sent = of.session.sent_bytes();
  has_read |= std::exchange(of.sent_bytes, sent) != sent;
  bool const waits = !of.out.empty() || of.session.waits_for_window();
  if (!waits) return stalled_.forget(number);
  stalled_.waits(number, now_, has_read);
}

}  // namespace coxswain::relay
