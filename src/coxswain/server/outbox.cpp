#include "coxswain/server/outbox.hpp"

#include "coxswain/core/kernel/counted_answer.hpp"
#include "coxswain/wire/codec.hpp"

#include <algorithm>
#include <cassert>
#include <utility>
#include <variant>

namespace coxswain::server {
namespace {

// An idle connection keeps no larger buffer.
constexpr std::size_t kept_capacity = 128;

// The first buffer beyond that: for the replies to a batch of requests.
constexpr std::size_t first_capacity = 512;

// A buffer of this size is full.
constexpr std::size_t buffer_full = 64 * 1024;

// One part in this many of the memory stays free of queued messages, so that barriers still work
// when no peer reads. Of values twice that.
constexpr std::size_t spare_part = 32;

// A length prefix, and an id as a Protobuf field.
constexpr std::size_t frame_head_max = 4 + 1 + 10;

// Without the buffers in between that growing by doubling would take.
void make_room(std::string& buffer, std::size_t more) {
  auto const needed = buffer.size() + more;
  if (needed <= buffer.capacity()) return;
  buffer.reserve(needed <= kept_capacity
                     ? kept_capacity
                     : std::max({needed, 2 * buffer.capacity(), first_capacity}));
}

// Assigning an empty string would keep the capacity.
void free_memory(std::string& of) noexcept { std::string{}.swap(of); }

iovec piece(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

}  // namespace

outbox::outbox(meter_ptr memory, std::size_t bytes_max)
    : memory_{std::move(memory)}, bytes_max_{bytes_max} {}

outbox::~outbox() { abandon(); }

void outbox::push(request_id id, core::answer_ptr const& what, encoder& by) {
  if (ends_) return;
  ends_ = std::holds_alternative<core::goodbye>(what->value);
  if (waiting() == 0) {
    if (!put(id, what, by)) wait(id, what);
  } else if (!std::holds_alternative<core::barrier_progress>(what->value) &&
             !std::holds_alternative<core::waiting>(what->value)) {
    wait(id, what);
  }
}

void outbox::wait(request_id id, core::answer_ptr const& what) {
  waiting_.push_back({id, what});
  memory_->add_transit(sizeof(waiting_reply));
  core::hold(holder::transit, *what, *memory_);
}

// Removes the first waiting reply.
void outbox::forget_first() {
  auto& first = waiting_[waiting_begin_++];
  memory_->subtract_transit(sizeof(waiting_reply));
  core::let_go(holder::transit, *first.what, *memory_);
  first.what.reset();
}

bool outbox::put(request_id id, core::answer_ptr const& what, encoder& by) {
  if (!has(first_waits_for_)) return false;
  auto const& reply = by.encode(what);
  auto const bytes = reply.size();
  room wanted{bytes + frame_head_max, reply.copied.size() + reply.shared.uncounted() +
                                          reply.tail.uncounted() + frame_head_max};
  if (!has(wanted)) {
    first_waits_for_ = wanted;
    return false;
  }
  first_waits_for_ = {};
  std::string& copied = last_.copied;
  auto const before = copied.size();
  make_room(copied, frame_head_max + reply.copied.size());
  wire::append_server_head(copied, id, bytes);
  copied += reply.copied;
  queued_ += copied.size() - before;
  if (bytes != reply.copied.size()) {
    refer(reply.shared);
    refer(reply.tail);
  }
  close_if_full();
  return true;
}

bool outbox::has(room const& wanted) const noexcept {
  if (queued_ == 0) return true;
  return queued_ <= bytes_max_ && wanted.queued <= bytes_max_ - queued_ &&
         memory_->fits_in_transit(wanted.memory + memory_->limit() / spare_part);
}

void outbox::refer(bytes const& content) {
  if (content.size() == 0) return;
  last_.references.push_back({last_.copied.size(), carried_bytes{content}});
  queued_ += content.size();
}

void outbox::close_if_full() {
  if (last_.copied.capacity() > std::max(last_.counted, kept_capacity)) count_buffer(last_);
  if (last_.copied.size() >= buffer_full) full_.push_back(std::exchange(last_, {}));
}

void outbox::overtake(std::string message) {
  assert(!has_writable());
  auto const bytes = message.size();
  full_.emplace_front().copied = std::move(message);
  queued_ += bytes;
  held_->begin -= static_cast<std::int64_t>(bytes);
}

std::span<iovec const> outbox::fill(std::span<iovec> into) const {
  if (!has_writable()) return {};
  auto const filled = fill_all(into);
  if (!held_ || held_->released >= end()) return filled;
  auto left = static_cast<std::size_t>(held_->released - held_->begin);
  for (std::size_t i = 0; i < filled.size(); ++i) {
    into[i].iov_len = std::min(into[i].iov_len, left);
    left -= into[i].iov_len;
    if (left == 0) return filled.first(i + 1);
  }
  return filled;
}

std::span<iovec const> outbox::fill_all(std::span<iovec> into) const {
  if (is_one_buffer()) {
    if (into.empty()) return {};
    into[0] = piece({last_.copied.data() + last_.copied_begin, queued_});
    return into.first(1);
  }
  std::size_t filled = 0;
  for (stretch const& piece : full_) {
    if (filled == into.size()) break;
    filled += piece.fill(into.subspan(filled));
  }
  return into.first(filled + last_.fill(into.subspan(filled)));
}

std::size_t outbox::stretch::fill(std::span<iovec> into) const {
  std::string_view const text{copied};
  std::size_t filled = 0;
  std::size_t at = copied_begin;
  auto const add = [&](std::string_view some) {
    if (!some.empty() && filled < into.size()) into[filled++] = piece(some);
  };
  std::size_t offset = reference_offset;
  for (reference const& next : references) {
    if (filled == into.size()) break;
    add(text.substr(at, next.at - at));
    add(next.content.view().substr(std::exchange(offset, 0)));
    at = next.at;
  }
  add(text.substr(at));
  return filled;
}

void outbox::written(std::size_t count, encoder& by) {
  assert(count <= queued_);
  take(count);
  refill(by);
  compact();
}

void outbox::end_with(std::string_view bytes) {
  if (std::exchange(ends_, true)) return;
  last_.copied += bytes;
  queued_ += bytes.size();
  count_buffer(last_);
}

void outbox::abandon() noexcept {
  while (waiting() != 0) forget_first();
  for (stretch const& piece : full_) memory_->subtract_transit(piece.counted);
  memory_->subtract_transit(last_.counted);
  full_.clear();
  last_ = {};
  waiting_ = std::vector<waiting_reply>{};
  queued_ = 0;
  waiting_begin_ = 0;
  held_.reset();
  ends_ = abandoned_ = true;
}

void outbox::take(std::size_t count) {
  queued_ -= count;
  if (held_) held_->begin += static_cast<std::int64_t>(count);
  if (is_one_buffer()) {
    last_.copied_begin += count;
    return;
  }
  while (count != 0) {
    stretch& first = full_.empty() ? last_ : full_.front();
    count -= first.take(count);
    if (!full_.empty() && first.is_written()) {
      memory_->subtract_transit(first.counted);
      full_.pop_front();
    }
  }
}

bool outbox::stretch::is_written() const noexcept {
  return copied_begin == copied.size() && references.empty();
}

// Removes the written bytes from one piece.
std::size_t outbox::stretch::take(std::size_t count) {
  if (!references.empty() && references.front().at == copied_begin) {
    auto const bytes = references.front().content.size();
    auto const taken = std::min(count, bytes - reference_offset);
    reference_offset += taken;
    if (reference_offset == bytes) {
      references.pop_front();
      reference_offset = 0;
    }
    return taken;
  }
  auto const end = references.empty() ? copied.size() : references.front().at;
  auto const taken = std::min(count, end - copied_begin);
  copied_begin += taken;
  return taken;
}

void outbox::refill(encoder& by) {
  while (waiting() != 0) {
    auto const& first = waiting_[waiting_begin_];
    if (!put(first.id, first.what, by)) return;
    forget_first();
  }
}

void outbox::compact() {
  if (!waiting_.empty() && waiting() == 0) {
    waiting_ = std::vector<waiting_reply>{};
    waiting_begin_ = 0;
  } else if (waiting_begin_ >= 1024 && waiting_begin_ >= waiting_.size() / 2) {
    waiting_.erase(waiting_.begin(),
                   waiting_.begin() + static_cast<std::ptrdiff_t>(waiting_begin_));
    waiting_begin_ = 0;
  }
  if (!empty()) return;
  last_.copied.clear();
  last_.copied_begin = 0;
  if (last_.copied.capacity() > kept_capacity) {
    free_memory(last_.copied);
    count_buffer(last_);
  }
}

// A buffer that it keeps while it is idle does not count.
void outbox::count_buffer(stretch& of) noexcept {
  auto const held = of.copied.capacity() > kept_capacity ? of.copied.capacity() : 0;
  memory_->add_transit(held);
  memory_->subtract_transit(std::exchange(of.counted, held));
}

void outbox::check_invariants() const {
  std::size_t queued = 0;
  auto const add = [&queued](stretch const& piece) {
    queued += piece.copied.size() - piece.copied_begin - piece.reference_offset;
    for (reference const& next : piece.references) queued += next.content.size();
  };
  std::for_each(full_.begin(), full_.end(), add);
  add(last_);
  assert(queued_ == queued);
  assert(queued_ != 0 || waiting() == 0);
  assert(!held_ || held_->released <= end());
  (void)queued;
}

}  // namespace coxswain::server
