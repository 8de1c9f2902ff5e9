#include "coxswain/http2/message_decoder.hpp"

#include "coxswain/http2/gzip.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

namespace coxswain::http2 {

encoding encoding_of(std::string_view name) noexcept {
  if (name == "gzip") return encoding::gzip;
  return name == "identity" ? encoding::none : encoding::unknown;
}

status message_decoder::feed(std::string_view& input) {
  if (prefix_bytes_ < message_prefix_bytes) {
    auto const count = std::min(message_prefix_bytes - prefix_bytes_, input.size());
    std::copy_n(input.data(), count, prefix_.data() + prefix_bytes_);
    prefix_bytes_ = static_cast<std::uint8_t>(prefix_bytes_ + count);
    input.remove_prefix(count);
    if (prefix_bytes_ < message_prefix_bytes) return {};
    if (prefix_[0] != 0 && prefix_[0] != 1) {
      return {errc::internal, "the body of the call is not gRPC: a message begins with byte " +
                                  std::to_string(static_cast<unsigned char>(prefix_[0]))};
    }
    length_ = boost::endian::load_big_u32(reinterpret_cast<unsigned char const*>(&prefix_[1]));
    if (length_ > bytes_max_) {
      return {errc::resource_exhausted, "the message has " + std::to_string(length_) +
                                            " bytes; at most " + std::to_string(bytes_max_) +
                                            " are accepted"};
    }
  }
  auto const count = std::min(length_ - content_.size(), input.size());
  content_.append(input.substr(0, count));
  input.remove_prefix(count);
  return {};
}

std::string message_decoder::take_received() {
  prefix_bytes_ = 0;
  length_ = 0;
  return std::exchange(content_, {});
}

status message_decoder::check(encoding by) const {
  if (!is_compressed() || by == encoding::gzip) return {};
  if (by == encoding::none) {
    return {errc::internal, "a message is compressed, but there is no grpc-encoding"};
  }
  return {errc::unimplemented,
          "a message is compressed with a grpc-encoding that is not supported: use gzip, or "
          "identity"};
}

result<std::string> message_decoder::take(encoding by) {
  if (auto why = check(by); !why.ok()) {
    static_cast<void>(take_received());
    return why;
  }
  if (!is_compressed()) return take_received();
  return gunzip(take_received(), bytes_max_);
}

}  // namespace coxswain::http2
