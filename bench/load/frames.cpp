#include "load/frames.hpp"

#include "coxswain/wire/frame.hpp"

#include <algorithm>

namespace coxswain::bench {
namespace {

using wire::length_bytes;

std::size_t length_of(std::string_view prefix) {
  return read_number(prefix.substr(0, length_bytes));
}

std::string_view take(std::string_view& from, std::size_t bytes_max) {
  auto const taken = from.substr(0, bytes_max);
  from.remove_prefix(taken.size());
  return taken;
}

}  // namespace

std::optional<received_frame> frame_reader::next(std::string_view& input) {
  if (is_taken_) {
    kept_.clear();
    is_taken_ = false;
  }
  if (kept_.empty() && input.size() >= length_bytes) {
    auto const length = length_of(input);
    if (input.size() >= length_bytes + length) {
      return received_frame{take(input, length_bytes + length).substr(length_bytes), length};
    }
  }
  if (kept_.size() < length_bytes) {
    kept_ += take(input, length_bytes - kept_.size());
    if (kept_.size() < length_bytes) return std::nullopt;
    length_ = length_of(kept_);
    to_skip_ = length_ > kept_bytes_max ? length_ - kept_bytes_max : 0;
  }
  kept_ += take(input, length_bytes + std::min(length_, kept_bytes_max) - kept_.size());
  if (kept_.size() < length_bytes + std::min(length_, kept_bytes_max)) return std::nullopt;
  to_skip_ -= take(input, to_skip_).size();
  if (to_skip_ > 0) return std::nullopt;
  is_taken_ = true;
  return received_frame{std::string_view{kept_}.substr(length_bytes), length_};
}

}  // namespace coxswain::bench
