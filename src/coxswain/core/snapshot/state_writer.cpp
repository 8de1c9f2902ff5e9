#include "coxswain/core/snapshot/state_writer.hpp"

#include "coxswain/base/little_endian.hpp"
#include "coxswain/core/snapshot/fields_of_sessions.hpp"

#include <algorithm>

namespace coxswain::core {
namespace {

constexpr std::uint64_t factor = 0x9fb21c651e98df25;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * factor;
  return hash ^ (hash >> 32);
}

// Mixes whole words; the last one is filled up with zeros.
std::uint64_t mixed(std::uint64_t hash, std::string_view bytes) noexcept {
  for (; bytes.size() >= number_bytes; bytes.remove_prefix(number_bytes)) {
    hash = mixed(hash, from_little_endian<std::uint64_t>(bytes.substr(0, number_bytes)));
  }
  if (bytes.empty()) return hash;
  std::uint64_t last = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    last = last << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return mixed(hash, last);
}

std::uint64_t ended(std::uint64_t hash, std::uint64_t length) noexcept {
  return mixed(mixed(hash, length), factor);
}

}  // namespace

std::uint64_t digest_of(std::string_view bytes) noexcept {
  return ended(mixed(0, bytes), bytes.size());
}

void state_writer::share(std::uint32_t number, answer_ptr const& value) {
  if (!value) return reference(number, 0);
  share(number, static_cast<answer const&>(*value), value->use_count() == 1);
}

void state_writer::share(std::uint32_t number, bytes const& value) {
  if (!value.identity()) return reference(number, 0);
  if (!value.is_sole()) {
    auto const [at, is_new] = numbers_.try_emplace(value.identity(), contents_ + 1);
    if (!is_new) return reference(number, at->second);
  }
  ++contents_;
  bool const is_volatile = volatile_above_ != 0 && value.size() > volatile_above_;
  begin(number);
  if (value.size() != 0 && !is_volatile) text(1, value.view());
  (*this)(2, !value.is_metered());
  if (is_volatile) (*this)(3, value.size());
  end(number);
}

void state_writer::text(std::uint32_t number, std::string_view content) {
  tag(number, wire_type::text);
  varint(content.size());
  while (!content.empty()) {
    if (filled_ == piece) flush();
    std::size_t const count = std::min(content.size(), piece - filled_);
    content.copy(buffer_.data() + filled_, count);
    filled_ += count;
    content.remove_prefix(count);
  }
}

// A piece has whole words, except for the last one.
void state_writer::flush() {
  std::string_view const bytes{buffer_.data(), filled_};
  hash_ = mixed(hash_, bytes);
  length_ += filled_;
  filled_ = 0;
  if (to_) to_(bytes);
}

std::uint64_t state_writer::finish() {
  flush();
  return ended(hash_, length_);
}

}  // namespace coxswain::core
