#include "coxswain/server/connection.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <numeric>
#include <span>
#include <string>
#include <utility>

namespace coxswain::server {
namespace {

// Limits of reading per loop iteration, of one connection and of all together; each may always read
// one buffer. And of writing, per connection, which is lower once all together have written more
// than `iteration_write_max`.
constexpr std::size_t own_read_max = 4 * intake::buffer_bytes;
constexpr std::size_t iteration_read_max = 16 * intake::buffer_bytes;
constexpr std::size_t own_write_max = 1024 * 1024;
constexpr std::size_t own_write_min = 64 * 1024;
constexpr std::size_t iteration_write_max = 2 * 1024 * 1024;

// Gathered for one write.
constexpr std::size_t pieces_max = 64;

// How long a connection is kept after the last byte of its goodbye. Closing it with unread input
// would make the kernel send a reset, which can destroy the goodbye in transit.
constexpr duration drain_time = 1s;

// How often a stalled reader is checked until the core disconnects it.
constexpr int looks = 3;
constexpr duration look_period_min = 1ms;

std::size_t size_of(std::span<iovec const> pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), std::size_t{},
                         [](std::size_t sum, iovec const& part) { return sum + part.iov_len; });
}

}  // namespace

core::loss loss_of(net::transfer const& last) noexcept {
  auto const error = last.error.value();
  bool const unreachable = error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;
  return unreachable ? core::loss::unreachable : core::loss::closed;
}

loop_iteration::loop_iteration(dispatch& d, net::poller& p, options const& o,
                               std::function<time_point()> now_of_clock)
    : logic{d},
      poller{p},
      clock{std::move(now_of_clock)},
      linger{o.linger},
      look_period{std::max(o.core.stalled_reader_timeout / looks, look_period_min)} {}

void loop_iteration::take_in() noexcept {
  auto const pieces = read.pieces();
  if (pieces.empty()) return;
  now = clock();  // no deadline may begin before its call arrived
  for (auto const& piece : pieces) piece.from->hear(piece.bytes);
  read.clear();
}

bool loop_iteration::commit() noexcept {
  if (!journal_failure.ok()) return false;
  if (logic.is_committed()) return true;
  try {
    journal_failure = logic.commit();
  } catch (std::exception const& e) {
    journal_failure = {errc::data_loss, std::string{"the journal cannot be written: "} + e.what()};
  }
  return journal_failure.ok();
}

void loop_iteration::report(core::severity level,
                            std::initializer_list<std::string_view> parts) noexcept {
  try {
    std::string text;
    for (auto const part : parts) text += part;
    logic.report({level, std::move(text)});
  } catch (std::exception const&) {
  }
}

connection::connection(loop_iteration& t, connection_id id,
                       std::unique_ptr<net::byte_stream> stream)
    : iteration_{t},
      id_{id},
      out_{&t.logic.out(id)},
      stream_{std::move(stream)},
      ready_{t.poller, stream_->native_handle(), this},
      loop_{read()} {
  loop_.start();
}

void connection::end(core::loss how) noexcept {
  if (ended()) return;
  phase_ = phase::ended;
  if (is_pending_) iteration_.pending.left(as_pending_peer());
  blocked_ = awaits_room_ = false;
  out_ = nullptr;
  iteration_.ended.push_back(id_);
  iteration_.logic.lost(iteration_.now, id_, how);
}

// An error on one connection, such as lack of memory, ends only this connection.
void connection::give_up(std::exception const& why) noexcept {
  end(core::loss::closed);
  iteration_.report(core::severity::error,
                    {"a connection was closed because of an error: ", why.what()});
}

net::owned_coroutine connection::read() {
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
  } catch (std::exception const& e) {
    give_up(e);
  }
}

// Reads until a read is short or a limit is reached. While reading is paused it returns `wait`, and
// `flush` resumes it.
connection::next connection::read_ready() {
  for (std::size_t own = 0;;) {
    if (is_unprocessed_ || iteration_.read.is_full()) iteration_.take_in();
    if (!ended() && taken_ != dispatch::taken::all) go_on();
    if (ended()) return next::stop;
    if (taken_ == dispatch::taken::reading_paused) return next::wait;
    if (taken_ == dispatch::taken::waits) return next::another_iteration;
    auto const room = iteration_.read.room();
    auto const got = stream_->read_some(room);
    if (got.how == net::transfer::outcome::would_block) return nothing_to_read();
    if (got.how != net::transfer::outcome::done) {
      iteration_.take_in();
      if (got.how == net::transfer::outcome::eof) read_to_end();
      end(loss_of(got));
      return next::stop;
    }
    own += got.bytes;
    iteration_.bytes_read += got.bytes;
    // After a goodbye, input is read only so that the peer gets to read the goodbye.
    if (phase_ == phase::open) {
      iteration_.read.add(*this, got.bytes);
      is_unprocessed_ = true;
    }
    if (got.bytes < room.size() && !ready_.hung_up() && !is_broken_) return next::wait;
    iteration_.take_in();
    if (own >= own_read_max || iteration_.bytes_read >= iteration_read_max)
      return next::another_iteration;
  }
}

// Its end of file acknowledges what its kernel had received before it was closed, and a process
// that left some of that unread causes a reset instead.
void connection::read_to_end() {
  if (ended() || is_broken_ || !out_->empty() || stream_->unread_by_peer() != 0) return;
  iteration_.logic.closed_in_order(iteration_.now, id_);
}

connection::next connection::nothing_to_read() {
  if (!is_broken_) return next::wait;
  end(broken_by_);
  return next::stop;
}

// Takes kept input, as far as allowed.
void connection::go_on() {
  iteration_.take_in();
  if (out_->pauses_reading()) return;
  taken_ = iteration_.logic.go_on(iteration_.now, id_);
  iteration_.releases.look(iteration_.logic.rounds_ended());
}

void connection::hear(std::string_view bytes) noexcept {
  is_unprocessed_ = false;
  if (ended()) return;
  try {
    has_spoken_ = true;
    taken_ = iteration_.logic.received(iteration_.now, id_, bytes);
    if (is_pending_ && iteration_.logic.is_greeted(id_)) {
      is_pending_ = false;
      iteration_.pending.greeted(as_pending_peer());
    }
    iteration_.releases.look(iteration_.logic.rounds_ended());
    if (taken_ == dispatch::taken::waits) ready_.poke_next_iteration();
  } catch (std::exception const& e) {
    give_up(e);
  }
}

void connection::flush() noexcept {
  if (ended() || is_broken_ || !iteration_.commit()) return;
  try {
    if (out_->ends() && phase_ <= phase::slowed) {
      if (is_slowed()) return;
      begin_goodbye();
    }
    if (!awaits_room_) write();
    bool const is_paused = taken_ == dispatch::taken::reading_paused;
    if (is_paused && !ended() && !out_->pauses_reading()) ready_.poke_next_iteration();
  } catch (std::exception const& e) {
    give_up(e);
  }
}

void connection::has_room() noexcept {
  iteration_.take_in();
  awaits_room_ = false;
  flush();
}

void connection::write() {
  std::array<iovec, pieces_max> room;
  auto const most = iteration_.bytes_written < iteration_write_max ? own_write_max : own_write_min;
  for (std::size_t own = 0; out_->has_writable();) {
    if (own >= most) return await_next_turn();
    auto const pieces = out_->fill(room);
    auto const wanted = size_of(pieces);
    auto const sent = stream_->write_some(pieces);
    ++iteration_.sends;
    if (sent.how == net::transfer::outcome::failed) return broke(loss_of(sent));
    if (sent.bytes != 0) {
      own += sent.bytes;
      iteration_.bytes_sent += sent.bytes;
      iteration_.bytes_written += sent.bytes;
      blocked_ = false;
      iteration_.logic.wrote(iteration_.now, id_, sent.bytes);
    }
    if (sent.bytes < wanted) return await_reader();
  }
  all_written();
}

// Input from before the peer's end is still processed: a Bye, an acknowledgement.
void connection::broke(core::loss how) {
  iteration_.logic.broke(id_);
  is_broken_ = true;
  broken_by_ = how;
  blocked_ = awaits_room_ = false;
  ready_.poke_next_iteration();
}

void connection::all_written() {
  ready_.want_write(false);
  if (phase_ == phase::saying_goodbye && out_->empty()) begin_draining();
}

void connection::await_room() {
  awaits_room_ = true;
  ready_.want_write(true);
}

// The connection has written its share of this iteration. A socket that this nearly filled does not
// report room while its peer reads nothing, although it never refused a byte.
void connection::await_next_turn() {
  await_room();
  blocked_since_ = iteration_.now;
  iteration_.to_visit.push_back(id_);
}

void connection::await_reader() {
  await_room();
  if (std::exchange(blocked_, true)) return;
  blocked_since_ = iteration_.now;
  unread_ = stream_->unread_by_peer();
  iteration_.to_visit.push_back(id_);
  iteration_.logic.write_blocked(iteration_.now, id_);
}

void connection::visit() noexcept {
  try {
    look_after();
  } catch (std::exception const& e) {
    give_up(e);
  }
}

void connection::look_after() {
  if (ended()) return;
  if (phase_ == phase::slowed) return flush();
  if (closes_at_ <= iteration_.now) return end(core::loss::closed);
  if (!awaits_room_) return;
  if (!blocked_) return await_reader();
  auto const unread = stream_->unread_by_peer();
  if (std::exchange(unread_, unread) <= unread) return;
  blocked_since_ = iteration_.now;
  iteration_.logic.still_reads(iteration_.now, id_);
}

// The last check is at the core's limit for stalled readers, in that iteration before the core gets
// the time, so that no progress is missed.
time_point connection::next_visit() const noexcept {
  if (!awaits_room_) return closes_at_;
  auto const looked = (iteration_.now - blocked_since_) / iteration_.look_period;
  auto const look = deadline_after(blocked_since_, iteration_.look_period * (looked + 1));
  return std::min(closes_at_, look);
}

// Whether its peer is to learn only later that its token is wrong.
bool connection::is_slowed() {
  auto const* const peer = is_pending_ ? iteration_.logic.wrong_token(id_) : nullptr;
  if (peer == nullptr) return false;
  if (phase_ == phase::slowed && iteration_.now >= blocked_since_ + slowed_max) return false;
  auto const when = iteration_.wrong_tokens.begin(iteration_.now, pending_peers::host_of(*peer));
  if (when <= iteration_.now) return false;
  if (std::exchange(phase_, phase::slowed) == phase::open) blocked_since_ = iteration_.now;
  closes_at_ = when;
  iteration_.to_visit.push_back(id_);
  return true;
}

bool connection::dismiss(std::string_view goodbye) {
  bool const is_new = !has_spoken_ && stream_->has_unread();
  if (ended() || !is_pending_ || is_new) return false;
  leave(goodbye);
  return true;
}

void connection::leave(std::string_view goodbye) noexcept {
  if (ended()) return;
  iovec const piece{const_cast<char*>(goodbye.data()), goodbye.size()};
  bool const expects_it =
      phase_ == phase::open && !out_->has_writable() && iteration_.logic.speaks_frames(id_);
  if (expects_it) static_cast<void>(stream_->write_some({&piece, 1}));
  end(core::loss::closed);
}

void connection::begin_goodbye() {
  phase_ = phase::saying_goodbye;
  closes_at_ = deadline_after(iteration_.now, iteration_.linger);
  iteration_.to_visit.push_back(id_);
}

void connection::begin_draining() {
  phase_ = phase::draining;
  stream_->shut_write();
  closes_at_ = deadline_after(iteration_.now, drain_time);
  iteration_.to_visit.push_back(id_);
}

}  // namespace coxswain::server
