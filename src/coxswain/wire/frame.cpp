#include "coxswain/wire/frame.hpp"

#include "coxswain/base/memory_reserve.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <new>

namespace coxswain::wire {
namespace {

// `prefix` has `length_bytes`.
std::size_t length_of(std::string_view prefix) noexcept {
  auto const byte = [prefix](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(prefix[i])};
  };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

// The record type and the major version with which TLS begins.
bool begins_tls(std::size_t length) { return length >> 16 == 0x1603; }

// The first four bytes of a request (HTTP/2 begins with PRI) or of a response.
bool begins_http(std::size_t length) {
  constexpr std::array<std::string_view, 11> beginnings{
      "GET ", "HEAD", "POST", "PUT ", "DELE", "OPTI", "PATC", "CONN", "TRAC", "PRI ", "HTTP"};
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [length](std::string_view text) { return length_of(text) == length; });
}

status too_long(std::size_t length, std::size_t limit) {
  if (begins_tls(length)) {
    return {errc::invalid_argument, "The peer speaks TLS; this port does not."};
  }
  if (begins_http(length)) {
    return {errc::invalid_argument, "The peer speaks HTTP; this port does not."};
  }
  return {errc::invalid_argument, "A frame announces " + std::to_string(length) +
                                      " bytes, but the limit is " + std::to_string(limit) +
                                      " bytes. Does the peer speak the Coxswain protocol?"};
}

}  // namespace

std::array<char, length_bytes> length_prefix(std::size_t payload_bytes) noexcept {
  assert(payload_bytes <= std::numeric_limits<std::uint32_t>::max());
  auto const byte = [payload_bytes](int shift) {
    return static_cast<char>(payload_bytes >> shift);
  };
  return {byte(24), byte(16), byte(8), byte(0)};
}

void append_length(std::string& out, std::size_t payload_bytes) {
  auto const prefix = length_prefix(payload_bytes);
  out.append(prefix.data(), prefix.size());
}

void frame_decoder::feed(std::string_view input) noexcept {
  assert(input_.empty() || failed_);
  forget_kept();
  input_ = input;
}

bool frame_decoder::meets_http() const noexcept { return failed_ && begins_http(length_); }

bool frame_decoder::meets_http2() const noexcept { return meets("PRI "); }

bool frame_decoder::meets(std::string_view first) const noexcept {
  return failed_ && length_ == length_of(first);
}

// The memory is given back; `= {}` would keep it.
void frame_decoder::free_payload() noexcept {
  partial_ = std::vector<char>{};
  lent_ = false;
  count();
}

void frame_decoder::free_kept() noexcept {
  kept_ = std::vector<char>{};
  count();
}

bool frame_decoder::allow() noexcept {
  memory_reserve::use const none{nullptr};  // which is for allocations that cannot be refused
  try {
    partial_.reserve(length_);
  } catch (std::bad_alloc const&) {
    return false;
  }
  asks_ = false;
  count();
  return true;
}

void frame_decoder::keep() {
  forget_payload();
  if (input_.empty() || !kept_.empty()) return;
  kept_.assign(input_.begin(), input_.end());
  input_ = {kept_.data(), kept_.size()};
  count();
}

result<std::optional<std::string_view>> frame_decoder::next() {
  forget_payload();
  if (input_.empty()) forget_kept();
  if (!take_prefix()) return std::nullopt;
  if (length_ > limit_) failed_ = true;
  if (failed_) return too_long(length_, limit_);
  return take_payload();
}

// True if the length is known.
bool frame_decoder::take_prefix() noexcept {
  if (prefix_bytes_ == length_bytes) return true;
  if (prefix_bytes_ == 0 && input_.size() >= length_bytes) {
    length_ = length_of(input_);
    input_.remove_prefix(length_bytes);
    prefix_bytes_ = length_bytes;
    return true;
  }
  auto const arrived = take(length_bytes - prefix_bytes_);
  std::copy(arrived.begin(), arrived.end(), prefix_.begin() + prefix_bytes_);
  prefix_bytes_ = static_cast<std::uint8_t>(prefix_bytes_ + arrived.size());
  length_ = length_of({prefix_.data(), prefix_.size()});
  return prefix_bytes_ == length_bytes;
}

result<std::optional<std::string_view>> frame_decoder::take_payload() {
  if (partial_.empty() && input_.size() >= length_) {
    std::string_view const payload{input_.data(), length_};
    input_.remove_prefix(length_);
    prefix_bytes_ = 0;
    return payload;
  }
  asks_ = length_ > unasked_max_ && partial_.capacity() < length_;
  if (asks_) return std::nullopt;
  store(take(length_ - partial_.size()));
  if (partial_.size() < length_) return std::nullopt;
  prefix_bytes_ = 0;
  lent_ = true;
  return std::string_view{partial_.data(), partial_.size()};
}

std::string_view frame_decoder::take(std::size_t bytes_max) noexcept {
  auto const taken = input_.substr(0, bytes_max);
  input_.remove_prefix(taken.size());
  return taken;
}

// The buffer doubles, so that small pieces cost linear time, but never beyond the frame's end.
void frame_decoder::store(std::string_view more) {
  auto const needed = partial_.size() + more.size();
  if (needed > partial_.capacity()) {
    partial_.reserve(std::min(length_, std::max(needed, 2 * partial_.capacity())));
    count();
  }
  partial_.insert(partial_.end(), more.begin(), more.end());
}

}  // namespace coxswain::wire
