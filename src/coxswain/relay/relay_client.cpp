#include "coxswain/relay/relay_client.hpp"

#include "coxswain/tcp_store/request.hpp"
#include "coxswain/wire/routed.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace coxswain::relay {
namespace {

constexpr std::size_t read_max = 64 * 1024;  // in an iteration

constexpr std::string_view http2_begin = "PRI ";

// What a connection speaks that begins with these bytes. None: they are too few.
std::optional<server::protocols> protocol_of(std::string_view begin) {
  using server::protocols;
  for (auto const& [whole, what] : {std::pair{http2_begin, protocols::jax},
                                    std::pair{tcp_store::greeting, protocols::tcp_store}}) {
    if (begin.starts_with(whole)) return what;
    if (whole.starts_with(begin)) return std::nullopt;
  }
  return protocols::native;
}

// Shared by all, since what is read is passed on at once.
std::span<char> read_buffer() {
  static thread_local std::array<char, wire::route_content_max> room;
  return room;
}

}  // namespace

relay_client::relay_client(net::poller& by, net::socket socket, server::accepted_peer who,
                           bool is_vouched, client_owner& owner)
    : owner_{owner},
      who_{std::move(who)},
      is_vouched_{is_vouched},
      process_{process_of(socket.value())},
      stream_{std::move(socket)},
      ready_{by, stream_.native_handle(), this},
      loop_{read()} {
  loop_.start();
  if (!process_.alive) return;
  death_.emplace(by, process_.alive.value());
  watch_ = watch();
  watch_.start();
}

net::owned_coroutine relay_client::watch() {
  co_await death_->readable();
  process_.has_ended = true;
  ready_.poke_next_iteration();
}

bool relay_client::has_left() const noexcept {
  pollfd descriptor{stream_.native_handle(), POLLRDHUP, 0};
  return ::poll(&descriptor, 1, 0) > 0;
}

void relay_client::attach(client_port& to, std::uint32_t route) {
  board_ = &to;
  route_ = route;
  ready_.poke_next_iteration();
}

void relay_client::go_on() {
  if (std::exchange(read_paused_, false)) ready_.poke_next_iteration();
}

net::owned_coroutine relay_client::read() {
  try {
    for (;;) {
      co_await ready_.readable();
      auto what_next = read_ready();
      while (what_next == next::another_iteration) {
        co_await ready_.next_iteration();
        what_next = read_ready();
      }
      if (what_next == next::stop) co_return;
    }
  } catch (std::exception const&) {
    end();
  }
}

relay_client::next relay_client::read_ready() {
  for (std::size_t own = 0;;) {
    if (has_ended_) return next::stop;
    if (route_ == 0 && !leaves_) return next::wait;
    if (is_gone_) return gone();
    auto room = read_buffer();
    if (!leaves_) {
      auto const most = owner_.is_full() ? 0 : board_->room(route_);
      room = room.first(std::min(room.size(), most));
    }
    if (room.empty()) {
      read_paused_ = true;
      return next::wait;
    }
    auto const got = stream_.read_some(room);
    if (got.how == net::transfer::outcome::would_block && !has_exited()) return next::wait;
    if (got.how != net::transfer::outcome::done) return gone();
    std::string_view const bytes{room.data(), got.bytes};
    if (!leaves_) take(bytes);
    if (got.bytes < room.size() && !ready_.hung_up() && !has_exited()) return next::wait;
    own += got.bytes;
    if (own >= read_max) return next::another_iteration;
  }
}

void relay_client::take(std::string_view bytes) {
  if (has_begun_) return board_->content(route_, bytes);
  begin_ += bytes;
  auto const what = protocol_of(begin_);
  if (!what) return;
  has_begun_ = true;
  owner_.client_begins(*this, *what);
  board_->content(route_, std::exchange(begin_, {}));
}

// A process closes its sockets a little before its end is visible.
relay_client::next relay_client::gone() {
  if (!death_ || has_exited() || leaves_) {
    end();
    return next::stop;
  }
  if (!std::exchange(is_gone_, true)) owner_.client_gone(*this);
  return next::wait;
}

void relay_client::changed() noexcept {
  if (has_ended_ || leaves_) return;
  try {
    write();
    if (!has_ended_) go_on();
  } catch (std::exception const&) {
    end();
  }
}

void relay_client::write() {
  while (!write_blocked_) {
    auto const text = board_->to_write(route_);
    if (text.empty()) break;
    if (is_deaf_ || is_gone_) {
      board_->wrote(route_, text.size());
      break;
    }
    iovec const piece{const_cast<char*>(text.data()), text.size()};
    auto const sent = stream_.write_some({&piece, 1});
    if (sent.how == net::transfer::outcome::failed) {
      is_deaf_ = true;
      ready_.poke_next_iteration();
      continue;
    }
    if (sent.bytes != 0) board_->wrote(route_, sent.bytes);
    if (sent.bytes < text.size()) {
      write_blocked_ = true;
      ready_.want_write(true);
    }
  }
  if (!board_->ends(route_) || !board_->to_write(route_).empty()) return;
  if (is_gone_) return end();
  leaves_ = true;
  stream_.shut_write();
}

void relay_client::has_room() noexcept {
  write_blocked_ = false;
  try {
    ready_.want_write(false);
  } catch (std::exception const&) {
    return end();
  }
  if (route_ != 0) changed();
}

void relay_client::dismiss(std::string_view goodbye) noexcept {
  iovec const piece{const_cast<char*>(goodbye.data()), goodbye.size()};
  static_cast<void>(stream_.write_some({&piece, 1}));
  stream_.shut_write();
  end();
}

void relay_client::end() noexcept {
  if (std::exchange(has_ended_, true)) return;
  owner_.client_ended(*this);
}

}  // namespace coxswain::relay
