// The connection's background coroutines: time, opening and reading a transport, writing.

#include "coxswain/client/connection.hpp"

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::detail {
namespace {

using boost::system::error_code;

constexpr std::size_t read_bytes = 64 * 1024;
constexpr std::size_t kept_capacity_max = 256 * 1024;

// The address may come from a Goodbye, and be none.
asio::awaitable<net::reach_failure> reach(std::shared_ptr<net::transport> over, std::string address,
                                          std::uint64_t first,
                                          std::function<void(attempt_stage)> on_stage) {
  auto const to = net::endpoint::parse(address);
  if (to) co_return co_await net::transport::open(over, *to, first, std::move(on_stage));
  net::reach_failure failure;
  failure.why = to.error();
  co_return failure;
}

}  // namespace

// Held by `keep`: when its frame is destroyed, at the session's end or with the context, Asio's
// objects must be destroyed too.
class connection::departure {
 public:
  explicit departure(connection& from) : from_{from} {}
  ~departure() { from_.detach(); }
  departure(departure const&) = delete;
  departure& operator=(departure const&) = delete;

 private:
  connection& from_;
};

asio::awaitable<void> connection::keep(self_ptr self) {
  departure const leaving{*self};
  try {
    while (!self->agent_.over()) {
      auto const deadline = self->agent_.next_deadline().value_or(time_point::max());
      self->armed_for_ = deadline;
      self->timer_->expires_at(deadline);
      error_code ignored;
      co_await self->timer_->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      if (self->agent_.over() || now() < deadline) continue;
      // Read available input first, above all after this process was stopped for a while.
      co_await asio::post(self->executor_, asio::use_awaitable);
      self->agent_.advance(now());
      self->pump();
    }
  } catch (...) {
    self->broke();
  }
}

// A timer that is set too early costs less than one that is moved.
void connection::arm() {
  if (!timer_) return;
  auto const next =
      agent_.over() ? time_point::min() : agent_.next_deadline().value_or(time_point::max());
  if (next >= armed_for_) return;
  armed_for_ = next;
  timer_->cancel();
}

asio::awaitable<void> connection::serve(self_ptr self, transport_ptr over, std::size_t address) {
  try {
    // Not from within the call that wanted it.
    co_await asio::post(self->executor_, asio::use_awaitable);
    if (over->is_dropped()) co_return;
    std::function<void(attempt_stage)> on_stage = [self, over, address](auto stage) {
      if (!over->is_dropped()) self->agent_.reached(address, stage);
    };
    auto const failure =
        co_await reach(over, self->agent_.address(address), self->attempts_++, std::move(on_stage));
    if (over->is_dropped()) co_return;
    self->opening_.erase(address);
    if (failure.why.ok()) {
      self->transport_ = over;
      self->agent_.connected(now(), address);
      self->pump();
      co_await read(self, over);
    } else {
      over->drop();
      if (failure.rejected) {
        self->agent_.rejected(now(), address, failure.why);
      } else {
        self->agent_.connect_failed(now(), address, failure.why, failure.refused);
      }
      self->pump();
    }
  } catch (...) {
    self->broke();
  }
}

asio::awaitable<void> connection::read(self_ptr self, transport_ptr over) {
  std::vector<char> buffer(read_bytes);
  while (!over->is_dropped()) {
    auto const got = over->read_some(buffer);
    bool const full = got.bytes == buffer.size();
    if (got.how == net::transfer::outcome::done) {
      self->agent_.received(now(), std::string_view{buffer.data(), got.bytes});
      if (self->spin_.is_on()) self->spin_.restart(now());
      self->pump();
    } else if (got.how != net::transfer::outcome::would_block) {
      auto const why = over->loss(got, "the coordinator");
      bool const rejected = over->rejected();
      self->drop_transport();
      if (rejected) {
        self->agent_.rejected(now(), self->agent_.current(), why);
      } else {
        self->agent_.lost(now(), why);
      }
      self->pump();
    }
    if (over->is_dropped()) co_return;
    if (full || (self->spin_.is_on() && self->spin_.again(now()))) {
      // Let others on this thread run.
      co_await asio::post(self->executor_, asio::use_awaitable);
    } else {
      co_await transport::readable(over);
    }
  }
}

void connection::drop_transport() {
  if (transport_) transport_->drop();
  transport_.reset();
  bytes_.clear();
  written_ = 0;
  write_blocked_ = false;
}

void connection::drop_all() {
  for (auto const& [_, attempt] : opening_) attempt->drop();
  opening_.clear();
  drop_transport();
}

// Everything that accumulates until the executor gets to it goes out in one write.
void connection::request_flush() {
  if (flush_requested_ || write_blocked_ || !transport_) return;
  flush_requested_ = true;
  auto flushing = [self = shared_from_this()] {
    self->flush_requested_ = false;
    try {
      self->flush();
    } catch (...) {
      self->broke();
    }
  };
  asio::post(executor_, std::move(flushing));
}

void connection::flush() {
  if (write_blocked_) return;
  write_out();
  if (!write_blocked_) return spin_for_reply();
  auto waiting = await_room(shared_from_this(), transport_);
  asio::co_spawn(executor_, std::move(waiting), asio::detached);
}

// As far as possible. The reader detects failures, since earlier input is still to be read.
void connection::write_out() {
  if (!transport_ || !transport_->is_open()) return;
  for (;;) {
    if (written_ == bytes_.size()) {
      // By a swap, since an empty string that is assigned leaves the memory where it is.
      if (bytes_.capacity() > kept_capacity_max) std::string{}.swap(bytes_);
      agent_.take_bytes(bytes_);
      written_ = 0;
      if (bytes_.empty()) return;
    }
    auto const went = transport_->write_some(std::string_view{bytes_}.substr(written_));
    written_ += went.bytes;
    if (went.how == net::transfer::outcome::done) continue;
    write_blocked_ = went.how == net::transfer::outcome::would_block;
    return;
  }
}

void connection::spin_for_reply() {
  if (!spin_.is_on() || !transport_) return;
  spin_.restart(now());
  transport_->wake_reader();
}

asio::awaitable<void> connection::await_room(self_ptr self, transport_ptr over) {
  try {
    co_await transport::writable(over);
    if (over->is_dropped()) co_return;
    self->write_blocked_ = false;
    self->agent_.write_progressed(now());
    self->flush();
    self->pump();
  } catch (...) {
    self->broke();
  }
}

// Called in an exception handler: most likely out of memory. The session cannot continue.
void connection::broke() noexcept {
  try {
    status why{errc::internal, "the client failed"};
    try {
      throw;
    } catch (std::exception const& e) {
      why = {errc::internal, std::string{"the client failed: "} + e.what()};
    } catch (...) {
    }
    if (!failure_) {
      failure_.emplace();
      failure_->cause.why = std::move(why);
    }
    answer_waits(question::kind::failure, core::answer{{}, *failure_});
    agent_.bye(now(), true);
    pump();
  } catch (...) {
    drop_all();
  }
}

void connection::detach() noexcept {
  timer_.reset();
  drop_all();
  // Not empty only if the context is being destroyed: they are never called. They can own the
  // client object.
  auto const calls = std::exchange(calls_, {});
  auto const waits = std::exchange(waits_, {});
}

}  // namespace coxswain::detail
