#include "coxswain/server/encoder.hpp"

#include "coxswain/wire/codec.hpp"

#include <utility>

namespace coxswain::server {

encoded_reply const& encoder::encode(core::answer_ptr const& what) {
  for (auto const& one : last_) {
    if (one.what == what) return one.reply;
  }
  auto encoded = wire::encode(*what);
  encoded_reply reply;
  if (encoded.head.size() < shared_bytes_min) {
    reply.copied = std::move(encoded.head);
  } else {
    reply.shared = bytes{std::move(encoded.head), memory_};
  }
  if (encoded.tail.size() < shared_bytes_min && reply.shared.size() == 0) {
    reply.copied.append(encoded.tail.view());
  } else {
    reply.tail = std::move(encoded.tail);
  }
  auto& place = last_[next_++ % last_.size()];
  place = remembered{what, std::move(reply)};
  return place.reply;
}

void encoder::forget() {
  if (next_ == 0) return;
  for (auto& one : last_) one = remembered{};
  next_ = 0;
}

}  // namespace coxswain::server
