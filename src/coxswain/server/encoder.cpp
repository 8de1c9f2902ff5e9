#include "coxswain/server/encoder.hpp"

#include "coxswain/wire/codec.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::server {

encoded_reply const& encoder::encode(core::answer_ptr const& what) {
  for (auto const& encoding : last_) {
    if (encoding.what == what) return encoding.reply;
  }
  auto& place = last_[next_++ % last_.size()];
  place.what = nullptr;  // until it is complete
  auto& [copied, shared, tail] = place.reply;
  shared = {};
  tail = {};
  copied.clear();
  wire::encode(*what, copied, tail);
  if (copied.size() >= shared_bytes_min) shared = bytes{std::exchange(copied, {}), memory_};
  place.what = what;
  return place.reply;
}

void encoder::forget_all() {
  for (std::size_t i = 0; i < std::min(next_, last_.size()); ++i) {
    last_[i].what = nullptr;
    auto& [copied, shared, tail] = last_[i].reply;
    copied.clear();
    shared = tail = {};
  }
  next_ = 0;
}

}  // namespace coxswain::server
