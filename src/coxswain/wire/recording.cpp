#include "coxswain/wire/recording.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/v1/recording.pb.h"
#include "coxswain/wire/codec_fields.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>

namespace coxswain::wire {
namespace {

constexpr std::uint32_t version = 1;

void append_number(std::string& out, int field, std::uint64_t value) {
  if (value != 0) append_varint_field(out, field, value);
}

void append_text(std::string& out, int field, std::string_view text) {
  if (text.empty()) return;
  append_field_head(out, field, text.size());
  out += text;
}

error malformed(std::string const& what) {
  return error{{errc::invalid_argument, "This is no recording that can be read: " + what}};
}

}  // namespace

void append(std::string& out, recording_head const& head) {
  v1::RecordingHead to;
  to.set_version(version);
  to.set_coordinator_incarnation(head.coordinator.value);
  to.set_started_unix_ms(head.started_unix_ms);
  to.set_lost(head.lost);
  for (auto const& [name, value] : head.settings) {
    auto& setting = *to.add_settings();
    setting.set_name(text(name));
    setting.set_value(text(value));
  }
  append_length(out, to.ByteSizeLong());
  append_message(out, to);
}

// By hand, since each message that comes in is recorded.
void append(std::string& out, record const& what) {
  using fields = v1::Record;
  auto const begin = out.size();
  append_length(out, 0);
  append_number(out, fields::kAtNsFieldNumber, static_cast<std::uint64_t>(what.at.count()));
  append_number(out, fields::kKindFieldNumber, static_cast<std::uint64_t>(what.kind));
  append_number(out, fields::kConnectionFieldNumber, what.connection.value);
  append_text(out, fields::kContentFieldNumber, what.content);
  if (what.secret) append_text(out, fields::kSecretFieldNumber, to_wire(*what.secret));
  append_number(out, fields::kNumberFieldNumber, what.number);
  append_number(out, fields::kCodeFieldNumber, static_cast<std::uint64_t>(what.code));

  std::string length;
  append_length(length, out.size() - begin - length_bytes);
  std::copy(length.begin(), length.end(), out.begin() + static_cast<std::ptrdiff_t>(begin));
}

recording_reader::recording_reader(std::string_view bytes) : rest_{bytes} {
  v1::RecordingHead from;
  auto const item = take_item();
  if (!item || !parse(*item, from)) throw malformed("it has no head.");
  if (from.version() != version) {
    throw malformed("its version is " + std::to_string(from.version()) +
                    ", and this program knows version " + std::to_string(version) + ".");
  }
  head_.coordinator = incarnation{from.coordinator_incarnation()};
  head_.started_unix_ms = from.started_unix_ms();
  head_.lost = from.lost();
  for (auto const& setting : from.settings()) {
    head_.settings.emplace_back(setting.name(), setting.value());
  }
}

std::optional<record> recording_reader::next() {
  while (auto const item = take_item()) {
    v1::Record from;
    if (!parse(*item, from)) throw malformed("a record is damaged.");
    if (!v1::Record::Kind_IsValid(from.kind())) continue;
    record to;
    to.at = duration{static_cast<std::int64_t>(from.at_ns())};
    to.kind = static_cast<record_kind>(from.kind());
    to.connection = connection_id{from.connection()};
    // The content lies in the recording, which lives longer than the parsed message.
    if (!from.content().empty()) {
      to.content = item->substr(item->find(from.content()), from.content().size());
    }
    to.secret = secret_of(from.secret());
    to.number = from.number();
    to.code = errc_of(from.code());
    return to;
  }
  return std::nullopt;
}

std::optional<std::string_view> recording_reader::take_item() {
  if (rest_.size() < length_bytes) return std::nullopt;
  std::size_t length = 0;
  for (char const byte : rest_.substr(0, length_bytes)) {
    length = length * 256 + static_cast<unsigned char>(byte);
  }
  if (length > rest_.size() - length_bytes) return std::nullopt;
  auto const item = rest_.substr(length_bytes, length);
  rest_.remove_prefix(length_bytes + length);
  return item;
}

}  // namespace coxswain::wire
