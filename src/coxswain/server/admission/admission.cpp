#include "coxswain/server/admission/admission.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/peer_user.hpp"
#include "coxswain/server/admission/rejections.hpp"
#include "coxswain/server/entropy.hpp"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

namespace coxswain::server {
namespace {

// How long listeners rest when there are no descriptors left.
constexpr duration rest = 100ms;

// How often closed and refused pending peers are logged.
constexpr duration report_dismissed_every = 10s;

// How many of a host's pending peers are checked for a silent one.
constexpr std::size_t looked_at_max = 8;

// Descriptors that are left for others: files, the log, an embedding program.
constexpr std::size_t spare_descriptors = 64;

std::size_t connections_max(options const& o) {
  if (o.connections_max != 0) return o.connections_max;
  std::size_t const spare = spare_descriptors + o.descriptors_reserved;
  rlimit limit{};
  std::size_t const descriptors = ::getrlimit(RLIMIT_NOFILE, &limit) == 0
                                      ? static_cast<std::size_t>(limit.rlim_cur)
                                      : std::size_t{1024};
  return std::max(descriptors, spare + 1) - spare;
}

status not_guarded(std::string const& where) {
  return {errc::failed_precondition,
          "Any process that reaches " + where +
              " can act for any task, since JAX and torch send no token. Listen on a Unix "
              "socket, require client certificates, list the allowed hosts (xla.allow), or allow "
              "it explicitly (xla.insecure)."};
}

std::size_t kept_for_known_hosts(std::size_t places) {
  return std::min<std::size_t>(places / 32, 64);
}

}  // namespace

admission::admission(loop_iteration& t, connections& all, options const& o,
                     net::tls_context const* certificates)
    : iteration_{t},
      connections_{all},
      connections_max_{connections_max(o)},
      strangers_per_host_max_{o.strangers_per_host_max != 0
                                  ? o.strangers_per_host_max
                                  : std::max<std::size_t>(connections_max_ / 2, 1)},
      no_room_{no_room(connections_max_)},
      gives_way_{gives_way()} {
  if (certificates != nullptr) {
    handshakes::limits const limits{o.core.hello_timeout, o.handshakes_per_second_max};
    handshakes_.emplace(t.poller, *certificates, t.pending, limits, speaks_tls_only());
  }
  listen(o);
}

// JAX's own client and torch's TCPStore cannot send a token, so they are served where none is
// needed, and at addresses of their own.
void admission::listen(options const& o) {
  bool const has_tokens = !o.core.credentials.empty();
  bool const asks_certificates = !o.tls.ca.empty();
  listener::terms terms;
  terms.must_be_private = !has_tokens && !asks_certificates && !o.insecure;
  terms.speaks = has_tokens ? protocols::native : protocols::both;
  terms.peer_timeout = o.core.heartbeat_timeout;
  auto const add = [&](std::string const& address) {
    listeners_.push_back(std::make_unique<listener>(address, terms));
    addresses_.push_back(listeners_.back()->address());
  };
  for (auto const& address : o.listen) add(address);
  for (auto const& range : o.xla.allow)
    allowed_.push_back(net::address_range::parse(range).value());
  terms.is_for_owner = true;
  terms.speaks = protocols::jax;
  bool const is_guarded = asks_certificates || !allowed_.empty() || o.xla.insecure;
  terms.must_be_private = !is_guarded;
  for (auto const& address : o.xla.listen) {
    if (!is_guarded && !address.starts_with("unix:")) throw error{not_guarded(address)};
    add(address);
  }
  terms.speaks = protocols::tcp_store;
  terms.must_be_private = true;
  for (auto const& address : o.tcp_store_listen) add(address);
}

void admission::report_not_allowed(std::string_view peer, std::string_view where,
                                   std::string_view why) {
  if (iteration_.now < report_not_allowed_at_) return;
  report_not_allowed_at_ = iteration_.now + report_dismissed_every;
  iteration_.report(core::severity::warning, {peer, " was refused at ", where, ": ", why});
}

bool admission::is_allowed(int socket) const {
  auto const peer = net::socket_address::peer(socket);
  if (allowed_.empty() || !peer || peer->family() == AF_UNIX) return true;
  return std::any_of(allowed_.begin(), allowed_.end(),
                     [&](net::address_range const& range) { return range.contains(*peer); });
}

void admission::start() {
  for (auto const& listener : listeners_) listener->start(iteration_.poller, *this);
}

void admission::stop() noexcept {
  stopped_ = true;
  listeners_.clear();
}

void admission::clear() noexcept {
  stop();
  if (handshakes_) handshakes_->clear();
}

void admission::iteration_begins() noexcept {
  if (handshakes_) handshakes_->iteration_begins(iteration_.now);
  if (!rest_until_ || iteration_.now < *rest_until_) return;
  rest_until_.reset();
  for (auto const& listener : listeners_) listener->go_on();
}

void admission::accepted(listener const& by, net::socket socket, std::string peer) noexcept {
  try {
    auto const speaks = by.on().speaks;
    if (speaks == protocols::tcp_store && !net::is_of_this_user(socket.value())) {
      ++refused_;
      return report_not_allowed(peer, by.address(), "its process is not of this user");
    }
    if (speaks == protocols::jax && !is_allowed(socket.value())) {
      ++refused_;
      return report_not_allowed(peer, by.address(), "it is in no range of --xla-allow");
    }
    bool const speaks_tls =
        handshakes_ && !peer.starts_with("unix:") && speaks != protocols::tcp_store;
    if (!make_room_for(pending_peers::host_of(peer))) return refuse(std::move(socket), speaks_tls);
    auto stream = std::make_unique<net::socket_stream>(std::move(socket));
    is_full_reported_ = false;
    if (speaks_tls)
      return handshakes_->begin(iteration_.now, std::move(stream), {std::move(peer), speaks});
    take(std::move(stream), {std::move(peer), speaks});
  } catch (std::exception const& e) {
    iteration_.report(core::severity::error, {"a connection was not accepted: ", e.what()});
  }
}

// True if there is a place for one more.
bool admission::make_room_for(std::string_view host) {
  auto const& known = iteration_.pending;
  bool const is_over_limit = known.of(host) >= strangers_per_host_max_;
  // Connections with unread input are read in this iteration; handshakes can wait for long.
  if (is_over_limit && !dismiss_one(host) && handshakes_) return false;
  auto const taken = connections_.size() + (handshakes_ ? handshakes_->size() : 0);
  bool const is_known = host.empty() || known.knows(host);
  auto const kept = is_known ? 0 : kept_for_known_hosts(connections_max_);
  return taken < connections_max_ - kept || dismiss_one(known.busiest_host());
}

// Closes the oldest silent pending peer of the host. False if there is none among the oldest.
bool admission::dismiss_one(std::string_view host) {
  for (auto const& peer : iteration_.pending.oldest(host, looked_at_max)) {
    bool const is_gone = peer.what == pending_peers::peer::kind::handshake
                             ? handshakes_->dismiss(peer.number)
                             : connections_.dismiss(connection_id{peer.number}, gives_way_);
    if (!is_gone) continue;
    ++dismissed_;
    dismissed_of_ = host;
    return true;
  }
  return false;
}

void admission::report_dismissed() {
  if (dismissed_ == 0 || iteration_.now < report_dismissed_at_) return;
  report_dismissed_at_ = iteration_.now + report_dismissed_every;
  refused_ += dismissed_;
  auto const count = std::exchange(dismissed_, 0);
  iteration_.report(core::severity::warning,
                    {std::to_string(count), count == 1 ? " connection was" : " connections were",
                     " closed before Hello to make room for newer ones, the last of ",
                     dismissed_of_, "; one host may have ", std::to_string(strangers_per_host_max_),
                     " that are silent (strangers_per_host_max), all together ",
                     std::to_string(connections_max_), " (connections_max)"});
}

connection& admission::take(std::unique_ptr<net::byte_stream> stream, accepted_peer who) {
  std::string const host{pending_peers::host_of(who.peer)};
  auto const id =
      iteration_.logic.open(iteration_.now, std::move(who.peer), draw_secret(), who.speaks);
  try {
    iteration_.pending.came({pending_peers::peer::kind::connection, id.value}, host);
    auto& made = connections_.add(id, std::move(stream));
    ++accepted_;
    return made;
  } catch (std::exception const&) {
    iteration_.pending.left({pending_peers::peer::kind::connection, id.value});
    iteration_.logic.lost(iteration_.now, id, core::loss::closed);
    throw;
  }
}

void admission::let_in() noexcept {
  try {
    report_dismissed();
    if (!handshakes_) return;
    for (auto& caller : handshakes_->take_callers()) {
      take(std::move(caller.stream), std::move(caller.who)).read_soon();
    }
    if (stopped_) handshakes_->clear();
    handshakes_->advance(iteration_.now);
    for (auto const& refusal : handshakes_->take_refusals()) {
      ++handshakes_failed_;
      iteration_.report(core::severity::warning,
                        {refusal.peer, " was not let in: ", refusal.why.text()});
    }
  } catch (std::exception const& e) {
    iteration_.report(core::severity::error, {"a connection was not accepted: ", e.what()});
  }
}

// Best effort: unread input is read before the socket is closed, so that a reset is less likely to
// destroy the goodbye. TLS peers cannot be sent a plaintext goodbye.
void admission::refuse(net::socket socket, bool speaks_tls) {
  ++refused_;
  if (!std::exchange(is_full_reported_, true)) {
    iteration_.report(core::severity::warning,
                      {"connections are refused: there are ", std::to_string(connections_max_),
                       ", the limit connections_max; raise the limit of open files (ulimit -n), or "
                       "--connections-max if it was given"});
  }
  if (speaks_tls) return;
  ::send(socket.value(), no_room_.data(), no_room_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(socket.value(), SHUT_WR);
  auto const ignored = iteration_.read.room();
  ::recv(socket.value(), ignored.data(), ignored.size(), MSG_DONTWAIT);
}

void admission::out_of_room(int error) noexcept {
  rest_until_ = iteration_.now + rest;
  if (std::exchange(is_full_reported_, true)) return;
  iteration_.report(core::severity::error,
                    {"connections cannot be accepted for now: ", std::strerror(error),
                     "; raise the limit of open files (ulimit -n) or lower connections_max"});
}

void admission::count(statistics& all) const {
  all.connections = connections_.size();
  all.connections_max = connections_max_;
  all.connections_accepted = accepted_;
  all.connections_refused = refused_ + dismissed_;
  all.handshakes = handshakes_ ? handshakes_->size() : 0;
  all.handshakes_failed = handshakes_failed_;
}

std::optional<time_point> admission::next_deadline() const {
  auto const next = handshakes_ ? handshakes_->next_deadline() : std::nullopt;
  return next && rest_until_ ? std::min(*next, *rest_until_) : next ? next : rest_until_;
}

}  // namespace coxswain::server
