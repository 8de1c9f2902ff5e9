#include "coxswain/server/dispatch/tcp_store_connections.hpp"

#include "coxswain/server/dispatch/tcp_store_line.hpp"

#include <exception>
#include <memory>
#include <utility>

namespace coxswain::server {
namespace {

// The bytes of the greeting that the frame decoder has consumed as the length of a frame.
constexpr std::string_view greeting_begin = tcp_store::greeting.substr(0, wire::length_bytes);

// A client with more unread replies is not read.
constexpr std::size_t unread_max = 64 * 1024;

constexpr auto token_required =
    "This coordinator requires a token, which torch's TCPStore cannot send. Start it with "
    "--xla-listen ADDRESS and connect there, or use coxswain.Store.";

}  // namespace

tcp_store_connections::tcp_store_connections(parts of, options const& o)
    : core_{of.core},
      lines_{of.lines},
      steps_{of.steps},
      memory_{of.memory},
      events_{of.events},
      job_{o.core.job},
      token_{core::worker_token(o.core.credentials)} {}

bool tcp_store_connections::are_met(line const& on) noexcept {
  return !on.greeted && on.decoder.meets(greeting_begin);
}

std::string tcp_store_connections::open(time_point now, connection_id from, line& on) {
  std::string first{greeting_begin};
  first += on.decoder.take_rest();
  on.decoder = wire::frame_decoder{0};
  bool const needs_token = on.allowed == protocols::native || (on.route && !token_.empty());
  if (needs_token) {
    on.deaf = true;
    on.out.end_with({});
    core_.malformed(now, from, token_required);
    return {};
  }
  auto const& core = core_.logic();
  on.tcp_store = std::make_unique<tcp_store_line>(core.options().frame_bytes_max(),
                                                  line::unasked_max, core.memory().get());
  on.greeted = true;
  core_.received(now, from, tcp_store::client::hello(job_, token_));
  // Such a client sends nothing for hours. The end of its connection says all there is to know.
  core_.reading_paused(now, from);
  return first;
}

void tcp_store_connections::begin_input(line& on, std::string_view input) const {
  steps_.refill(on.steps);
  on.steps.waits = false;
  auto& t = *on.tcp_store;
  t.unread.erase(0, std::exchange(t.taken, 0));
  t.unread += input;
}

bool tcp_store_connections::is_full(line const& on) const noexcept {
  return on.out.queued_bytes() > unread_max;
}

bool tcp_store_connections::receive(time_point now, connection_id from, line& on) {
  auto& t = *on.tcp_store;
  if (on.deaf || on.reading_paused) return false;
  if (is_full(on)) {
    lines_.pause(now, from, on, true);
    return false;
  }
  if (t.taken == t.unread.size()) {
    t.unread = {};
    t.taken = 0;
    steps_.waits_no_more(from, on.steps);
    return false;
  }
  if (!steps_.may_go_on(from, on.steps)) {
    on.heard = now;
    steps_.wait(now, from, on.steps);
    return false;
  }
  auto rest = std::string_view{t.unread}.substr(t.taken);
  auto found = t.requests.next(rest);
  t.taken = t.unread.size() - rest.size();
  if (on.has_large) memory_.check_large(from, on);
  if (!found) {
    end(now, from, on, found.error());
    return false;
  }
  if (!*found) return t.requests.asks_for() == 0 || memory_.admit(now, from, on);
  ++requests_received_;
  std::size_t size = 0;
  for (auto const& text : (*found)->texts) size += text.size();
  tcp_store::output what;
  if (status why = t.client.received(std::move(**found), what); !why.ok()) {
    end(now, from, on, why);
    return false;
  }
  apply(now, from, on, std::move(what));
  steps_.charge(on.steps, size);
  return true;
}

void tcp_store_connections::send(time_point now, line& on, core::outgoing const& what) {
  tcp_store::output out;
  auto const verdict = on.tcp_store->client.answered(what, out);
  apply(now, what.to, on, std::move(out));
  if (verdict.what == tcp_store::client::fate::ends) end(now, what.to, on, verdict.why);
}

void tcp_store_connections::apply(time_point now, connection_id of, line& on,
                                  tcp_store::output&& what) {
  for (auto& input : what.to_core) core_.received(now, of, std::move(input));
  if (what.to_client.empty() || on.out.ends()) return;
  ++replies_sent_;
  try {
    for (auto const& piece : what.to_client) {
      on.out.append([&](std::string& out) { out += piece.copied; });
      if (piece.shared.size() != 0) on.out.append(piece.shared);
    }
  } catch (std::exception const&) {  // out of memory
    on.out.abandon();
  }
  lines_.changed(now, of, on);
}

void tcp_store_connections::end(time_point now, connection_id of, line& on, status const& why) {
  if (!why.ok() && !on.out.ends()) {
    core::event failure;
    failure.level = core::severity::warning;
    failure.text = "connection from " + core_.logic().peer_of(of) + " ended: " + why.message();
    events_.report(std::move(failure));
  }
  on.deaf = true;
  on.tcp_store->unread = {};
  on.tcp_store->taken = 0;
  on.out.end_with({});
  lines_.changed(now, of, on);
}

void tcp_store_connections::wrote(time_point now, connection_id to, line& on) {
  if (on.waits_for_memory && !is_full(on)) {
    lines_.pause(now, to, on, false);
  } else {
    lines_.notify_paused(now, to, on);
  }
}

void tcp_store_connections::closed_in_order(time_point now, connection_id from, line& on) {
  tcp_store::output last;
  on.tcp_store->client.closed_in_order(last);
  for (auto& input : last.to_core) core_.received(now, from, std::move(input));
}

// Its session has nothing to resume.
void tcp_store_connections::lost(time_point now, connection_id from) {
  core::client_message bye;
  bye.what = core::bye_args{};
  core_.received(now, from, std::move(bye));
}

void tcp_store_connections::use(std::vector<core::credential> const& credentials) {
  token_ = core::worker_token(credentials);
}

}  // namespace coxswain::server
