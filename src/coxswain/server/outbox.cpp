#include "coxswain/server/outbox.hpp"

#include "coxswain/core/kernel/counted_answer.hpp"
#include "coxswain/wire/codec.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>
#include <variant>

namespace coxswain::server {
namespace {

// An idle connection keeps no larger buffer.
constexpr std::size_t kept_capacity = 128;

// What was written is cut off a buffer when it is so much, and half of the buffer.
constexpr std::size_t cut_min = 64 * 1024;

// One part in so many of the memory stays free of what is queued, so that barriers still work when
// nobody reads. Of values twice as much does.
constexpr std::size_t spare_part = 32;

// A length prefix, and an id as a Protobuf field.
constexpr std::size_t frame_head_max = 4 + 1 + 10;

// An empty string that is assigned leaves the memory where it is.
void free_memory(std::string& of) noexcept { std::string{}.swap(of); }

iovec piece(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

}  // namespace

outbox::outbox(std::shared_ptr<memory_meter> memory, std::size_t bytes_max)
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

// The first reply that waits does so no longer.
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
  auto const before = copied_.size();
  wire::append_server_head(copied_, id, bytes);
  copied_ += reply.copied;
  queued_ += copied_.size() - before;
  if (copied_.capacity() > std::max(counted_, kept_capacity)) count_buffer();
  if (bytes != reply.copied.size()) {
    refer(reply.shared);
    refer(reply.tail);
  }
  return true;
}

bool outbox::has(room const& wanted) const noexcept {
  if (queued_ == 0) return true;
  return queued_ <= bytes_max_ && wanted.queued <= bytes_max_ - queued_ &&
         memory_->fits_in_transit(wanted.memory + memory_->limit() / spare_part);
}

void outbox::refer(bytes const& content) {
  if (content.size() == 0) return;
  references_.push_back({copied_.size(), carried_bytes{content}});
  queued_ += content.size();
}

std::span<iovec const> outbox::fill(std::span<iovec> into) const {
  std::string_view const copied{copied_};
  std::size_t filled = 0;
  std::size_t at = copied_begin_;
  auto const add = [&](std::string_view text) {
    if (!text.empty() && filled < into.size()) into[filled++] = piece(text);
  };
  for (std::size_t i = references_begin_; i < references_.size() && filled < into.size(); ++i) {
    auto const& next = references_[i];
    add(copied.substr(at, next.at - at));
    add(next.content.view().substr(i == references_begin_ ? reference_offset_ : 0));
    at = next.at;
  }
  add(copied.substr(at));
  return into.first(filled);
}

void outbox::written(std::size_t count, encoder& by) {
  assert(count <= queued_);
  while (count != 0) count -= take(count);
  refill(by);
  compact();
}

void outbox::end_with(std::string_view bytes) {
  if (std::exchange(ends_, true)) return;
  copied_ += bytes;
  queued_ += bytes.size();
  count_buffer();
}

void outbox::abandon() noexcept {
  while (waiting() != 0) forget_first();
  free_memory(copied_);
  count_buffer();
  references_ = std::vector<reference>{};
  waiting_ = std::vector<waiting_reply>{};
  queued_ = copied_begin_ = references_begin_ = reference_offset_ = 0;
  waiting_begin_ = 0;
  ends_ = true;
}

// Takes off as much of one piece as was written.
std::size_t outbox::take(std::size_t count) {
  bool const referring = references_begin_ < references_.size();
  if (referring && references_[references_begin_].at == copied_begin_) {
    auto& first = references_[references_begin_];
    auto const taken = std::min(count, first.content.size() - reference_offset_);
    queued_ -= taken;
    reference_offset_ += taken;
    if (reference_offset_ == first.content.size()) {
      first.content = bytes{};
      reference_offset_ = 0;
      ++references_begin_;
    }
    return taken;
  }
  auto const end = referring ? references_[references_begin_].at : copied_.size();
  auto const taken = std::min(count, end - copied_begin_);
  queued_ -= taken;
  copied_begin_ += taken;
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
  if (!references_.empty() && references_begin_ == references_.size()) {
    references_ = std::vector<reference>{};
    references_begin_ = 0;
  }
  if (copied_begin_ == copied_.size() && references_.empty()) {
    copied_.clear();
    copied_begin_ = 0;
    if (copied_.capacity() > kept_capacity) {
      free_memory(copied_);
      count_buffer();
    }
  } else if (copied_begin_ >= cut_min && copied_begin_ >= copied_.size() / 2) {
    copied_.erase(0, copied_begin_);
    copied_.shrink_to_fit();
    count_buffer();
    references_.erase(references_.begin(),
                      references_.begin() + static_cast<std::ptrdiff_t>(references_begin_));
    references_begin_ = 0;
    for (auto& one : references_) one.at -= copied_begin_;
    copied_begin_ = 0;
  }
}

// A buffer that it keeps while it is idle does not count.
void outbox::count_buffer() noexcept {
  auto const held = copied_.capacity() > kept_capacity ? copied_.capacity() : 0;
  memory_->add_transit(held);
  memory_->subtract_transit(std::exchange(counted_, held));
}

void outbox::check_invariants() const {
  auto const shared = std::accumulate(
      references_.begin() + static_cast<std::ptrdiff_t>(references_begin_), references_.end(),
      std::size_t{},
      [](std::size_t sum, reference const& one) { return sum + one.content.size(); });
  assert(queued_ == copied_.size() - copied_begin_ + shared - reference_offset_);
  assert(queued_ != 0 || waiting() == 0);
  (void)shared;
}

}  // namespace coxswain::server
