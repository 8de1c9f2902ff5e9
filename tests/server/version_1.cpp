#include "tests/server/version_1.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/v1/coxswain.pb.h"
#include "coxswain/v1/recording.pb.h"
#include "coxswain/wire/frame.hpp"
#include "coxswain/wire/recording.hpp"

#include <boost/endian/conversion.hpp>

#include <cstdint>
#include <optional>

namespace coxswain::test {
namespace {

constexpr std::uint32_t old_format = 2;

[[noreturn]] void refuse(std::string const& why) {
  throw error{{errc::invalid_argument, "This is no recording of protocol version 1: " + why}};
}

// The first item, without its length. None at the end or where the recording was truncated.
std::optional<std::string_view> take(std::string_view& rest) {
  if (rest.size() < wire::length_bytes) return {};
  auto const length =
      boost::endian::load_big_u32(reinterpret_cast<unsigned char const*>(rest.data()));
  if (rest.size() - wire::length_bytes < length) return {};
  auto const item = rest.substr(wire::length_bytes, length);
  rest.remove_prefix(wire::length_bytes + length);
  return item;
}

template <class Message>
Message parsed(std::string_view bytes) {
  Message made;
  if (!made.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) refuse("it is damaged.");
  return made;
}

void put(std::string& to, std::string const& item) {
  auto const length = wire::length_prefix(item.size());
  to.append(length.begin(), length.end()).append(item);
}

std::string translated(std::string_view message) {
  auto made = parsed<v1::ClientMessage>(message);
  if (made.has_hello()) {
    // The version of other clients is kept.
    auto const said = made.hello().protocol_version();
    made.mutable_hello()->set_protocol_version(said == 1 ? core::protocol_version
                                                         : said + core::protocol_version);
  }
  // The fields had these numbers; unknown fields are kept.
  if (made.has_remove()) {
    std::string const fields = made.remove().SerializeAsString();
    *made.mutable_remove_tree() = parsed<v1::RemoveTree>(fields);
  }
  return made.SerializeAsString();
}

}  // namespace

std::string from_version_1(std::string_view recording) {
  auto const first = take(recording);
  auto head = parsed<v1::RecordingHead>(first.value_or(""));
  if (head.version() != old_format) refuse("its format is " + std::to_string(head.version()) + '.');
  head.set_version(wire::recording_version);
  std::string made;
  put(made, head.SerializeAsString());
  while (auto const item = take(recording)) {
    auto one = parsed<v1::Record>(*item);
    if (one.kind() == v1::Record::MESSAGE) one.set_content(translated(one.content()));
    put(made, one.SerializeAsString());
  }
  return made.append(recording);
}

}  // namespace coxswain::test
