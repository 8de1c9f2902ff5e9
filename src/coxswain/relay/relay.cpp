#include "coxswain/relay/relay.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/peer_user.hpp"
#include "coxswain/relay/relay_tcp_store_service.hpp"
#include "coxswain/relay/relay_xla_service.hpp"
#include "coxswain/server/entropy.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/wire/codec.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace coxswain::relay {
namespace {

// When descriptors are exhausted.
constexpr duration accept_pause = 100ms;

// From the end of a process's connection to its own.
constexpr duration exit_max = 100ms;

// Clients that wait for the trunk; further ones are turned away at once.
constexpr std::size_t waiting_max = 4'096;

// A coordinator is restarted meanwhile. Clients that look elsewhere find it there as well, and do
// not come back.
constexpr duration return_max = 2s;

std::string goodbye(status const& why) {
  core::answer last;
  status reason{errc::unavailable, "the relay cannot reach the coordinator: " + why.message()};
  last.value = core::goodbye{std::move(reason), true};
  auto const encoded = wire::encode(last);
  std::string frame;
  wire::append_server_head(frame, request_id{}, encoded.size());
  return frame.append(encoded.head).append(encoded.tail.view());
}

}  // namespace

relay::relay(asio::io_context& io, relay_options o)
    : options_{std::move(o)},
      poller_{io, *this},
      trunk_{
          std::make_shared<trunk_link>(io.get_executor(), options_.upstream,
                                       net::endpoint::parse_list(options_.upstream.address).value(),
                                       static_cast<trunk_owner&>(*this))} {
  for (auto const& address : options_.listen) {
    auto const at = net::endpoint::parse(address);
    server::listener::terms terms;
    terms.must_be_private = options_.upstream.token.empty();
    bool const is_unix = at && at->is_unix();
    terms.is_for_owner = is_unix && !options_.admits_all_users;
    terms.is_for_all = is_unix && options_.admits_all_users;
    listeners_.push_back(std::make_unique<server::listener>(address, terms));
  }
  server::listener::terms terms;
  terms.must_be_private = true;
  terms.speaks = server::protocols::tcp_store;
  for (auto const& address : options_.tcp_store_listen) {
    listeners_.push_back(std::make_unique<server::listener>(address, terms));
  }
}

relay::~relay() { stop(); }

std::vector<std::string> relay::addresses() const {
  std::vector<std::string> all;
  for (auto const& listener : listeners_) all.push_back(listener->address());
  return all;
}

asio::awaitable<status> relay::run() {
  poller_.start();
  for (auto const& listener : listeners_) listener->start(poller_, *this);
  trunk_->start();
  poller_.request_iteration();
  co_await finished_.wait();
  co_return is_closed_ ? status{} : trunk_->end();
}

void relay::stop() {
  if (is_closed_) return;
  is_closed_ = true;
  std::string at;
  for (auto const& address : options_.listen) at += (at.empty() ? "" : ", ") + address;
  close_services({errc::unavailable, "the relay at " + at + " was stopped"});
  end();
}

void relay::end() {
  trunk_->close();
  clients_.clear();
  waiting_ = {};
  ending_.clear();
  listeners_.clear();
  poller_.close();
  finished_.open();
}

std::string relay::heartbeat_reply() {
  auto const encoded = wire::encode(core::answer{});
  std::string frame;
  wire::append_server_head(frame, request_id{}, encoded.size());
  return frame.append(encoded.head).append(encoded.tail.view());
}

time_point relay::iteration_begins() noexcept {
  auto const now = clock_now();
  begin_services(now);
  board_.reply_to_heartbeats(now - trunk_->heard_at() < heartbeat_period_ * 5 / 8);
  return now;
}

void relay::report_living(time_point now) {
  if (now < reports_at_) return;
  board_.report_living();
  reports_at_ = deadline_after(now, heartbeat_period_);
}

void relay::iteration_ends() noexcept {
  try {
    trunk_->advance();
    auto const now = clock_now();
    look_whether_idle(now);
    if (is_closed_) return;
    give_up_gone(now);
    if (failure_) turn_away(*failure_, now);
    report_living(now);
    advance_services();
    flush();
    clear_away();
    if (trunk_->is_over() && !finished_.is_open()) {
      turn_away(trunk_->end(), time_point::max());
      close_services(trunk_->end());
      return end();
    }
    if (accept_again_at_ && *accept_again_at_ <= now) {
      accept_again_at_.reset();
      for (auto const& listener : listeners_) listener->go_on();
    }
    poller_.wake_at(next_deadline());
  } catch (std::exception const& e) {
    trunk_reports(core::severity::error, std::string{"an error: "} + e.what());
    poller_.request_iteration();
  }
}

// Without a token everybody on this host may act for a task.
bool relay::vouches_for(server::listener const& by) const {
  if (options_.upstream.token.empty() || by.on().speaks == server::protocols::tcp_store)
    return true;
  if (options_.admits_all_users) return false;
  auto const at = std::find_if(listeners_.begin(), listeners_.end(),
                               [&](auto const& listener) { return listener.get() == &by; });
  auto const which = static_cast<std::size_t>(at - listeners_.begin());
  auto const address = net::endpoint::parse(options_.listen.at(which));
  return address && address->is_unix();
}

void relay::accepted(server::listener const& by, net::socket socket, std::string peer) noexcept {
  try {
    auto const speaks = by.on().speaks;
    if (speaks == server::protocols::tcp_store && !net::is_of_this_user(socket.value())) {
      return trunk_reports(core::severity::warning, peer + " was refused at " + by.address() +
                                                        ": its process is not of this user");
    }
    auto client = std::make_unique<relay_client>(
        poller_, std::move(socket), server::accepted_peer{std::move(peer), speaks}, vouches_for(by),
        static_cast<client_owner&>(*this));
    if (may_admit(*client)) return admit(std::move(client));
    if (waiting_.size() >= waiting_max) {
      dismiss(*client, failure_.value_or(status{}));
      ending_.push_back(std::move(client));
      return;
    }
    bool const was_up = trunk_->session().has_value();
    waiting_.push_back({clock_now() + (was_up ? return_max : duration::zero()), std::move(client)});
  } catch (std::exception const&) {
    out_of_room(0);
  }
}

void relay::out_of_room(int /*error*/) noexcept {
  accept_again_at_ = clock_now() + accept_pause;
  poller_.request_iteration();
}

// A TCPStore client is served without a trunk, too.
bool relay::may_admit(relay_client const& client) const {
  return trunk_->is_up() || (client.speaks() == server::protocols::tcp_store && !services_.empty());
}

void relay::admit(std::unique_ptr<relay_client> client) {
  if (client->has_left()) return ending_.push_back(std::move(client));
  std::uint32_t number{};
  if (client->speaks() == server::protocols::tcp_store) {
    auto& service = service_for(client->speaks());
    number = service.open(client->peer(), server::draw_secret());
    client->attach(service, number);
  } else {
    number = board_.open(server::draw_secret(), client->peer());
    client->attach(board_, number);
  }
  clients_.emplace(number, std::move(client));
}

// Of all protocols only our own has a word for it.
void relay::dismiss(relay_client& client, status const& why) {
  client.dismiss(client.speaks() == server::protocols::tcp_store ? std::string{} : goodbye(why));
}

void relay::client_gone(relay_client& who) {
  gone_.push_back({clock_now() + exit_max, who.route()});
  poller_.wake_at(next_deadline());
}

// Others are refused by the coordinator, or served there.
void relay::client_begins(relay_client& who, server::protocols what) {
  bool const is_at_service = who.route() >= relay_service::first_client;
  if (what == server::protocols::native || is_at_service || !who.is_vouched()) return;
  auto& service = service_for(what);
  auto moved = clients_.extract(who.route());
  board_.closed(who.route());
  moved.key() = service.open(who.peer(), server::draw_secret());
  who.attach(service, moved.key());
  clients_.insert(std::move(moved));
}

relay_service& relay::service_for(server::protocols what) const {
  return *services_.at(what == server::protocols::tcp_store ? 1 : 0);
}

relay_service& relay::service_of(std::uint32_t client) const {
  return *services_.at(client >= relay_tcp_store_service::first_client ? 1 : 0);
}

void relay::begin_services(time_point now) noexcept {
  for (auto const& service : services_) service->begin(now);
}

void relay::open_services() {
  auto const& to = options_.upstream;
  auto const& terms = *trunk_->session();
  if (services_.empty()) {
    auto const memory = make_meter(options_.memory_bytes_max);
    xla::xla_service_options o;
    o.job = to.job;
    o.host = server::host_name();
    o.token = to.token;
    o.started = server::wall_clock_now();
    o.start = clock_now();
    services_.push_back(std::make_unique<relay_xla_service>(
        board_, std::move(o), terms, options_.stalled_reader_timeout, options_.log, memory));
    relay_tcp_store_service::options store{to.job, to.token, options_.stalled_reader_timeout};
    services_.push_back(std::make_unique<relay_tcp_store_service>(board_, std::move(store), terms,
                                                                  options_.log, memory));
  }
  begin_services(clock_now());
  for (auto const& service : services_) service->trunk_up();
}

void relay::close_services(status const& why) {
  begin_services(clock_now());
  for (auto const& service : services_) service->trunk_over(why);
  flush();
}

void relay::advance_services() {
  for (auto const& service : services_) {
    service->advance(!is_full());
    while (auto const number = service->take_stalled()) clients_.at(*number)->give_up();
  }
}

void relay::give_up_gone(time_point now) {
  for (; !gone_.empty() && gone_.front().until <= now; gone_.pop_front()) {
    auto const found = clients_.find(gone_.front().route);
    if (found != clients_.end()) found->second->give_up();
  }
}

void relay::look_whether_idle(time_point now) {
  if (options_.idle_max <= duration::zero()) return;
  if (!clients_.empty() || !waiting_.empty()) {
    idle_since_.reset();
  } else if (!idle_since_) {
    idle_since_ = now;
  } else if (now - *idle_since_ >= options_.idle_max) {
    stop();
  }
}

std::optional<time_point> relay::next_deadline() const {
  auto next = std::min(trunk_->next_deadline().value_or(time_point::max()), reports_at_);
  if (accept_again_at_) next = std::min(next, *accept_again_at_);
  for (auto const& service : services_) {
    next = std::min(next, service->next_deadline().value_or(time_point::max()));
  }
  if (!gone_.empty()) next = std::min(next, gone_.front().until);
  if (failure_ && !waiting_.empty()) next = std::min(next, waiting_.front().until);
  if (idle_since_) next = std::min(next, deadline_after(*idle_since_, options_.idle_max));
  if (next == time_point::max()) return std::nullopt;
  return next;
}

void relay::client_ended(relay_client& /*who*/) noexcept {
  may_have_ended_ = true;
  poller_.request_iteration();
}

void relay::trunk_up() {
  failure_.reset();
  auto const& terms = *trunk_->session();
  heartbeat_period_ = terms.heartbeat_period > duration::zero() ? terms.heartbeat_period
                                                                : terms.heartbeat_timeout / 3;
  if (heartbeat_period_ > duration::zero()) {
    reports_at_ = deadline_after(clock_now(), heartbeat_period_);
  }
  trunk_reports(core::severity::info, "carries clients to " + trunk_->address());
  open_services();
  for (auto& [_, client] : std::exchange(waiting_, {})) {
    if (!client->has_ended()) {
      admit(std::move(client));
    } else {
      ending_.push_back(std::move(client));
    }
  }
}

// Their sessions go on: they connect again, and wait for the trunk. Those of the services stay.
void relay::trunk_down(status const& why) {
  flush();  // what it has brought just before, such as goodbyes
  auto const is_route = [](std::uint32_t number) { return number < relay_service::first_client; };
  std::size_t count = 0;
  for (auto& [number, client] : clients_) {
    if (!is_route(number)) continue;
    client->detach();
    ending_.push_back(std::move(client));
    ++count;
  }
  std::erase_if(clients_, [&](auto const& entry) { return is_route(entry.first); });
  gone_.erase_if([&](gone_client const& client) { return is_route(client.route); });
  trunk_reports(core::severity::warning, "the connection to the coordinator was lost" +
                                             (why.ok() ? std::string{} : ": " + why.message()) +
                                             "; " + std::to_string(count) +
                                             " clients connect again");
  reports_at_ = time_point::max();
  for (auto const& service : services_) service->trunk_down();
  board_.reset();
  poller_.request_iteration();
}

void relay::trunk_failed(status const& why) {
  failure_ = why;
  poller_.request_iteration();
}

// Those that have waited until then.
void relay::turn_away(status const& why, time_point until) {
  for (; !waiting_.empty() && waiting_.front().until <= until; waiting_.pop_front()) {
    auto client = std::move(waiting_.front().client);
    dismiss(*client, why);
    ending_.push_back(std::move(client));
  }
}

void relay::trunk_reports(core::severity level, std::string const& text) {
  if (options_.log) options_.log(level, text);
}

void relay::trunk_moved() {
  flush();
  if (may_have_ended_) poller_.request_iteration();
  poller_.wake_at(next_deadline());
}

void relay::trunk_has_room() {
  for (auto const& [number, client] : clients_) client->go_on();
}

// Writes to each client and to the trunk once.
void relay::flush() {
  begin_services(clock_now());
  auto const look = [this](std::uint32_t number) {
    if (auto const found = clients_.find(number); found != clients_.end()) found->second->changed();
  };
  board_.take_changed(changed_);
  for (auto const number : changed_) {
    bool const is_of_service =
        std::any_of(services_.begin(), services_.end(),
                    [&](auto const& service) { return service->route_changed(number); });
    if (!is_of_service) look(number);
  }
  for (auto const& service : services_) {
    service->take_changed(changed_);
    for (auto const number : changed_) look(number);
  }
  if (trunk_->is_up() && !board_.output().empty()) trunk_->flush(board_.output());
}

bool relay::has_peer(std::string_view name) const {
  return std::any_of(clients_.begin(), clients_.end(),
                     [name](auto const& entry) { return entry.second->peer() == name; });
}

// Never from a client's own coroutine.
void relay::clear_away() {
  ending_.clear();
  if (!std::exchange(may_have_ended_, false)) return;
  waiting_.erase_if([](auto const& entry) { return entry.client->has_ended(); });
  std::erase_if(clients_, [this](auto const& entry) {
    if (!entry.second->has_ended()) return false;
    bool const has_exited = entry.second->has_exited();
    if (entry.first < relay_service::first_client) {
      board_.closed(entry.first, has_exited);
    } else {
      service_of(entry.first)
          .close(entry.first, has_exited ? core::loss::exited : core::loss::closed);
    }
    return true;
  });
  flush();
}

}  // namespace coxswain::relay
