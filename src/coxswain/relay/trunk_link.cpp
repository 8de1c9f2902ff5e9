#include "coxswain/relay/trunk_link.hpp"

#include "coxswain/client/agent/agent_text.hpp"
#include "coxswain/server/entropy.hpp"
#include "coxswain/wire/routed.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

namespace coxswain::relay {
namespace {

using net::transfer;
using net::transport;

constexpr std::size_t read_bytes = 64 * 1024;
constexpr std::size_t full_bytes = 1024 * 1024;
constexpr std::size_t kept_capacity_max = 256 * 1024;
constexpr duration report_max = 10s;
constexpr duration peer_timeout_default = 100s;

detail::agent_options for_agent(client_options const& from, std::vector<net::endpoint> const& to) {
  detail::agent_options made;
  for (auto const& endpoint : to) made.addresses.push_back(endpoint.text());
  made.follows_others = from.tls.is_wanted();
  made.hello.job = from.job;
  made.hello.token = from.token;
  made.hello.label = from.label;
  made.hello.relay = true;
  made.hello.takes_stacks = from.wants_stacks != nullptr;
  made.connect_timeout = from.connect_timeout;
  made.seed = server::draw_incarnation().value;
  return made;
}

}  // namespace

trunk_link::trunk_link(asio::any_io_executor executor, client_options o,
                       std::vector<net::endpoint> to, trunk_owner& owner)
    : executor_{std::move(executor)},
      options_{std::move(o)},
      owner_{&owner},
      agent_{for_agent(options_, to)},
      decoder_{wire::message_bytes_max} {
  if (options_.tls.is_wanted()) {
    certificates_ =
        std::make_shared<net::tls_context const>(net::tls_context::side::client, options_.tls);
  }
}

void trunk_link::start() {
  agent_.start(clock_now());
  pump();
}

void trunk_link::advance() {
  auto const next = agent_.next_deadline();
  if (!next || clock_now() < *next) return;
  agent_.advance(clock_now());
  pump();
}

void trunk_link::close() {
  if (agent_.over()) return;
  agent_.bye(clock_now(), false);
  agent_.take_bytes(frame_);
  out_ += frame_;
  write_out();
  for (auto const& [_, route] : opening_) route->drop();
  opening_.clear();
  drop();
}

// After each input to the agent.
void trunk_link::pump() {
  agent_.take_bytes(frame_);
  out_ += frame_;
  agent_.take_commands(commands_);
  for (auto const& command : std::exchange(commands_, {})) {
    if (command.opens()) {
      open(command.address);
    } else {
      close(command.address);
    }
  }
  agent_.take_events(events_);
  for (auto const& event : std::exchange(events_, {})) report(event);
  agent_.take_completions(completions_);  // of reports, which need no more
  if (agent_.up() != is_up_) {
    is_up_ = agent_.up();
    if (is_up_) {
      owner_->trunk_up();
    } else {
      owner_->trunk_down(std::exchange(down_why_, {}));
    }
  }
  if (agent_.over()) owner_->trunk_failed(agent_.end());
  write_out();
  owner_->trunk_moved();
}

void trunk_link::report(detail::agent_event const& what) {
  using core::severity;
  if (auto const* const lost = std::get_if<detail::agent_events::disconnected>(&what)) {
    down_why_ = lost->why;
  } else if (auto const* const goodbye =
                 std::get_if<detail::agent_events::goodbye_received>(&what)) {
    down_why_ = goodbye->what.why;
  } else if (auto const* const wanted = std::get_if<detail::agent_events::stacks_wanted>(&what)) {
    if (options_.wants_stacks) options_.wants_stacks(wanted->what);
  } else if (auto const* const waits = std::get_if<detail::agent_events::waiting>(&what)) {
    owner_->trunk_reports(severity::warning, waits->text);
  } else if (auto const* const back = std::get_if<detail::agent_events::reconnected>(&what)) {
    owner_->trunk_reports(severity::info, "connected to " + address() + " again after " +
                                              detail::text_of(back->after));
  }
}

void trunk_link::open(std::size_t address) {
  auto const to = net::endpoint::parse(agent_.address(address));
  bool const is_private = to && to->is_unix();
  auto const& session = agent_.session();
  auto over = std::make_shared<transport>(
      executor_, session ? session->heartbeat_timeout : peer_timeout_default,
      is_private ? nullptr : certificates_);
  opening_[address] = over;
  auto serving = serve(shared_from_this(), std::move(over), address);
  asio::co_spawn(executor_, std::move(serving), asio::detached);
}

void trunk_link::close(std::size_t address) {
  auto const attempt = opening_.find(address);
  if (attempt == opening_.end()) {
    write_out();
    return drop();
  }
  attempt->second->drop();
  opening_.erase(attempt);
}

void trunk_link::drop() {
  if (transport_) transport_->drop();
  transport_.reset();
  out_.clear();
  written_ = 0;
  write_blocked_ = false;
  decoder_ = wire::frame_decoder{wire::message_bytes_max};
}

asio::awaitable<void> trunk_link::serve(self_ptr self, transport_ptr over, std::size_t address) {
  co_await asio::post(self->executor_, asio::use_awaitable);  // not from within its own call
  if (over->is_dropped()) co_return;
  net::reach_failure failure;
  auto const to = net::endpoint::parse(self->agent_.address(address));
  if (to) {
    failure = co_await transport::open(over, *to, self->attempts_++);
  } else {
    failure.why = to.error();
  }
  if (over->is_dropped()) co_return;
  self->opening_.erase(address);
  if (failure.why.ok()) {
    self->transport_ = over;
    self->agent_.connected(clock_now(), address);
    self->pump();
    co_await read(self, over);
    co_return;
  }
  over->drop();
  if (failure.rejected) {
    self->agent_.rejected(clock_now(), address, failure.why);
  } else {
    self->agent_.connect_failed(clock_now(), address, failure.why, failure.refused);
  }
  self->pump();
  if (self->opening_.empty() && !self->agent_.over()) self->owner_->trunk_failed(failure.why);
}

asio::awaitable<void> trunk_link::read(self_ptr self, transport_ptr over) {
  std::vector<char> buffer(read_bytes);
  while (!over->is_dropped()) {
    auto const got = over->read_some(buffer);
    bool const is_full = got.bytes == buffer.size();
    if (got.how == transfer::outcome::done) {
      self->take(std::string_view{buffer.data(), got.bytes});
    } else if (got.how != transfer::outcome::would_block) {
      auto why = over->loss(got, "the coordinator");
      bool const is_rejected = over->rejected();
      self->drop();
      if (is_rejected) {
        self->agent_.rejected(clock_now(), self->agent_.current(), std::move(why));
      } else {
        self->agent_.lost(clock_now(), std::move(why));
      }
      self->pump();
    }
    if (over->is_dropped()) co_return;
    if (is_full) {
      co_await asio::post(self->executor_, asio::use_awaitable);
    } else {
      co_await transport::readable(over);
    }
  }
}

// Messages about routes go to the owner, all others to the agent, which gets every sign of life.
void trunk_link::take(std::string_view bytes) {
  heard_at_ = clock_now();
  agent_.received(heard_at_, {});
  decoder_.feed(bytes);
  auto const over = transport_;
  while (transport_ == over) {
    auto const frame = decoder_.next();
    if (!frame) return broke(frame.error());
    if (!*frame) return pump();
    if (is_up_ && wire::is_routed(**frame)) {
      if (status why = owner_->trunk_received(**frame); !why.ok()) return broke(std::move(why));
      continue;
    }
    frame_.clear();
    wire::append_length(frame_, (*frame)->size());
    frame_ += **frame;
    agent_.received(clock_now(), std::exchange(frame_, {}));
    pump();
  }
}

void trunk_link::broke(status why) {
  drop();
  agent_.lost(clock_now(), std::move(why));
  pump();
}

void trunk_link::report(core::report_stack_args what) {
  if (agent_.over()) return;
  agent_.call(clock_now(), std::move(what), report_max);
  pump();
}

bool trunk_link::is_full() const noexcept { return out_.size() - written_ > full_bytes; }

void trunk_link::flush(std::string& more) {
  if (out_.empty()) {
    out_.swap(more);
  } else {
    out_ += more;
    more.clear();
  }
  write_out();
}

// As far as possible. The reader detects failures.
void trunk_link::write_out() {
  if (!transport_ || !transport_->is_open() || write_blocked_) return;
  while (written_ < out_.size()) {
    auto const went = transport_->write_some(std::string_view{out_}.substr(written_));
    written_ += went.bytes;
    if (went.how == transfer::outcome::done) continue;
    write_blocked_ = went.how == transfer::outcome::would_block;
    if (write_blocked_) {
      auto waiting = await_room(shared_from_this(), transport_);
      asio::co_spawn(executor_, std::move(waiting), asio::detached);
    }
    return;
  }
  written_ = 0;
  out_.clear();
  if (out_.capacity() > kept_capacity_max) std::string{}.swap(out_);
}

asio::awaitable<void> trunk_link::await_room(self_ptr self, transport_ptr over) {
  co_await transport::writable(over);
  if (over->is_dropped()) co_return;
  self->write_blocked_ = false;
  self->agent_.write_progressed(clock_now());
  self->pump();
  self->owner_->trunk_has_room();
}

}  // namespace coxswain::relay
