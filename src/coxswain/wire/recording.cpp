#include "coxswain/wire/recording.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/wire/field_writer.hpp"
#include "coxswain/wire/frame.hpp"
#include "coxswain/wire/record_reader.hpp"
#include "coxswain/wire/record_writer.hpp"
#include "coxswain/wire/recording_records.hpp"

#include <algorithm>

namespace coxswain::wire {
namespace {

// More than a century.
constexpr duration at_max{std::int64_t{1} << 62};

error malformed(std::string const& what) {
  return error{{errc::invalid_argument, "Not a readable recording: " + what}};
}

template <class T>
bool read_whole(std::string_view from, T& to) {
  field_reader fields{from};
  reading state;
  read_fields(fields, to, state);
  bool const is_secret_whole =
      state.secret_bytes == 0 || state.secret_bytes == sizeof(core::session_secret);
  return fields.succeeded() && is_secret_whole;
}

}  // namespace

void append(std::string& out, recording_head const& head) {
  auto const bytes = bytes_of_fields(head);
  append_length(out, bytes);
  field_appender to{out, bytes};
  write_fields(to, head);
  to.finish();
}

std::size_t bytes_max(record const& what) noexcept {
  constexpr std::size_t numbers = 8;  // of the fields, and the sizes of two
  return length_bytes + numbers * number_field_bytes_max + what.content.size() +
         sizeof(core::session_secret);
}

char* write(record const& what, char* to) noexcept {
  field_writer body{to + length_bytes};
  write_fields(body, what);
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
  auto const item = take_item();
  head_.version = 0;
  if (!item || !read_whole(*item, head_)) throw malformed("it has no header.");
  if (head_.version != recording_version) {
    throw malformed("its version is " + std::to_string(head_.version) +
                    ", and this program knows version " + std::to_string(recording_version) + ".");
  }
}

std::optional<record> recording_reader::next() {
  while (auto const item = take_item()) {
    record to;
    if (!read_whole(*item, to)) throw malformed("a record is damaged.");
    if (to.kind > core::enumeration_of<record_kind>.last) continue;
    if (to.at < duration{} || to.at > at_max) throw malformed("a record is from no possible time.");
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
