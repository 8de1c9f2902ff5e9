#include "coxswain/wire/recording.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/base/text_numbers.hpp"
#include "coxswain/v1/recording.pb.h"
#include "coxswain/wire/codec_fields.hpp"
#include "coxswain/wire/field_writer.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>

namespace coxswain::wire {
namespace {

// More than a century.
constexpr auto at_max = std::uint64_t{1} << 62;

error malformed(std::string const& what) {
  return error{{errc::invalid_argument, "Not a readable recording: " + what}};
}

}  // namespace

void append(std::string& out, recording_head const& head) {
  v1::RecordingHead to;
  to.set_version(recording_version);
  to.set_coordinator_incarnation(head.coordinator.value);
  to.set_started_unix_ms(head.started.unix_ms);
  to.set_utc_offset_s(head.started.utc_offset_s);
  to.set_lost(head.lost);
  to.set_has_sent(head.has_sent);
  for (auto const& [name, value] : head.settings) {
    auto& setting = *to.add_settings();
    setting.set_name(text(name));
    setting.set_value(text(value));
  }
  append_length(out, to.ByteSizeLong());
  append_message(out, to);
}

std::size_t bytes_max(record const& what) noexcept {
  constexpr std::size_t numbers = 10;  // of the fields, and the sizes of two
  return length_bytes + numbers * number_field_bytes_max + what.content.size() +
         sizeof(core::session_secret);
}

// By hand, since each message that comes in is recorded.
char* write(record const& what, char* to) noexcept {
  using fields = v1::Record;
  field_writer body{to + length_bytes};
  body.put_number(fields::kAtNsFieldNumber, static_cast<std::uint64_t>(what.at.count()));
  body.put_number(fields::kKindFieldNumber, static_cast<std::uint64_t>(what.kind));
  body.put_number(fields::kConnectionFieldNumber, what.connection.value);
  if (!what.content.empty()) {
    body.put_head(fields::kContentFieldNumber, what.content.size());
    body.put(what.content);
  }
  if (what.secret) {
    body.put_head(fields::kSecretFieldNumber, what.secret->size());
    body.put({reinterpret_cast<char const*>(what.secret->data()), what.secret->size()});
  }
  body.put_number(fields::kNumberFieldNumber, what.number);
  body.put_number(fields::kCodeFieldNumber, static_cast<std::uint64_t>(what.code));
  body.put_number(fields::kSameWordsFieldNumber, what.same_words ? 1 : 0);
  if (what.held) body.put_present_signed(fields::kHeldFieldNumber, *what.held);
  if (what.digest) body.put_present_number(fields::kDigestFieldNumber, *what.digest);

  auto const bytes = body.written().size();
  auto const length = length_prefix(bytes);
  std::copy(length.begin(), length.end(), to);
  return to + length_bytes + bytes;
}

void append(std::string& out, record const& what) {
  auto const before = out.size();
  out.resize(before + bytes_max(what));
  char const* const end = write(what, out.data() + before);
  out.resize(static_cast<std::size_t>(end - out.data()));
}

recording_reader::recording_reader(std::string_view bytes) : rest_{bytes} {
  v1::RecordingHead from;
  auto const item = take_item();
  if (!item || !parse(*item, from)) throw malformed("it has no header.");
  if (from.version() != recording_version) {
    throw malformed("its version is " + std::to_string(from.version()) +
                    ", and this program knows version " + std::to_string(recording_version) + ".");
  }
  head_.coordinator = incarnation{from.coordinator_incarnation()};
  head_.started = {from.started_unix_ms(), from.utc_offset_s()};
  head_.lost = from.lost();
  head_.has_sent = from.has_sent();
  for (auto const& setting : from.settings()) {
    head_.settings.emplace_back(setting.name(), setting.value());
  }
}

std::optional<record> recording_reader::next() {
  while (auto const item = take_item()) {
    v1::Record from;
    if (!parse(*item, from)) throw malformed("a record is damaged.");
    if (!v1::Record::Kind_IsValid(from.kind())) continue;
    if (from.at_ns() > at_max) throw malformed("a record is from no possible time.");
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
    to.same_words = from.same_words();
    if (from.has_held()) to.held = from.held();
    if (from.has_digest()) to.digest = static_cast<std::uint16_t>(from.digest());
    if (to.kind == record_kind::event) complete_text(to);
    return to;
  }
  return std::nullopt;
}

void recording_reader::complete_text(record& of) {
  if (!of.same_words) {
    std::string numbers;
    take_numbers_out(of.content, words_.emplace(), numbers);
    return;
  }
  auto numbers = of.content;
  bool const is_known = words_ && words_->size() <= shared_words_max;
  auto text = is_known ? put_numbers_in(*words_, numbers) : std::nullopt;
  if (!text || !numbers.empty()) throw malformed("an event has other words than it says.");
  text_ = *std::move(text);
  of.content = text_;
  of.same_words = false;
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
