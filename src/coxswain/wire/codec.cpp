// Requests, by the records of their structs (core/model/records).

#include "coxswain/wire/codec.hpp"

#include "coxswain/wire/alternatives.hpp"

#include <array>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace coxswain::wire {
namespace {

// The fields of ClientMessage beside its request.
namespace client_field {
constexpr int id = 1;
constexpr int answered_through = 2;
constexpr int task = 3;
constexpr int epoch = 48;
}  // namespace client_field

// The bytes of all values in an encoded message.
template <class Object>
std::size_t bytes_of_values(std::string_view message) noexcept {
  std::size_t bytes = 0;
  field_reader from{message};
  while (auto const tag = from.next_tag()) {
    auto const content = from.take_any(tag);
    core::record_of<Object>.for_each([&]<class Row>(Row const& row) {
      if (tag != tag_of(Row::number, wire_type::content)) return;
      using member = std::remove_cvref_t<decltype(row.of(std::declval<Object const&>()))>;
      if constexpr (is_value<typename Row::meaning>) {
        bytes += content.size();
      } else if constexpr (is_list<member>) {
        if constexpr (core::described<typename member::value_type>) {
          bytes += bytes_of_values<typename member::value_type>(content);
        }
      }
    });
  }
  return bytes;
}

struct values_of_request {
  std::size_t (*bytes)(std::string_view) noexcept {};
  int field{};
};
constexpr by_number<values_of_request, core::request> values{[]<class Args>() {
  return values_of_request{&bytes_of_values<Args>, value_field<Args>};
}};
constexpr auto const& request_readers = held_readers<core::request>;

template <class Sink>
[[gnu::always_inline]] inline void write_head(Sink& to, core::client_message const& from) {
  if (from.id.value != 0) to.put_present_number(client_field::id, from.id.value);
  if (from.answered_through != 0) {
    to.put_present_number(client_field::answered_through, from.answered_through);
  }
  if (from.task) to.put_present_number(client_field::task, from.task->value);
}

template <class Sink>
[[gnu::always_inline]] inline void write_epoch(Sink& to, core::client_message const& from) {
  if (from.epoch != 0) to.put_present_number(client_field::epoch, from.epoch);
}

template <int Number, class Args>
void append_short(std::string& out, core::client_message const& message, Args const& what) {
  constexpr std::size_t head_bytes_max = length_bytes + 4 * number_field_bytes_max;
  std::array<char, head_bytes_max + short_bytes_max + number_field_bytes_max> room;
  field_writer fields{room.data() + head_bytes_max};
  write_fields(fields, what);
  auto const bytes = fields.written().size();
  if (Number < client_field::epoch) write_epoch(fields, message);
  std::array<char, head_bytes_max> first;
  field_writer head{first.data() + length_bytes};
  write_head(head, message);
  if (Number > client_field::epoch) write_epoch(head, message);
  head.put_head(Number, bytes);
  auto const head_bytes = head.written().size();
  auto const prefix = length_prefix(head_bytes + fields.written().size());
  std::copy(prefix.begin(), prefix.end(), first.begin());
  char* const begin = fields.begin() - head_bytes - length_bytes;
  std::copy_n(first.begin(), length_bytes + head_bytes, begin);
  out.append(begin, length_bytes + head_bytes + fields.written().size());
}

template <class Args>
void append_request(std::string& out, core::client_message const& message, Args const& what) {
  constexpr bool is_request = !std::is_same_v<Args, std::monostate>;
  constexpr int number = [] {
    if constexpr (is_request) return core::record_of<Args>.number;
    return 0;
  }();
  if constexpr (is_request) {
    if (is_short(what)) return append_short<number>(out, message, what);
  }
  auto const write = [&](auto& to) {
    write_head(to, message);
    if (number > client_field::epoch) write_epoch(to, message);
    if constexpr (is_request) write_present<number, as::plain_t>(to, what);
    if (number < client_field::epoch) write_epoch(to, message);
  };
  field_counter count;
  write(count);
  append_length(out, count.bytes());
  field_appender to{out, count.bytes()};
  write(to);
  to.finish();
}

status check_large(std::string_view payload) {
  if (payload.size() > message_bytes_max) return invalid(payload.size(), "ClientMessage");
  auto const bytes = bytes_beside_values(payload);
  if (bytes <= request_bytes_max) return {};
  return {errc::invalid_argument, "A request has " + std::to_string(bytes) +
                                      " bytes beside its value; the limit request_bytes_max is " +
                                      std::to_string(request_bytes_max) + "."};
}

void settle(core::join_args& read) noexcept {
  if (read.timeout == unstated) read.timeout = read.any ? without_limit : core::timeout_default;
}

// Checks the request of a well-formed message.
status check_request(core::client_message& read, bool has_request, reading const& state) {
  if (auto* const join = std::get_if<core::join_args>(&read.what)) settle(*join);
  if (std::holds_alternative<core::resume_args>(read.what)) {
    return check_secret("A Resume", state.secret_bytes);
  }
  if (has_request || read.id.value == 0) return {};
  return {errc::invalid_argument,
          "Request " + std::to_string(read.id.value) +
              " is of a kind that this version does not know. Is the client newer?"};
}

// The only one of some fields of a message; nothing if there are none or several, or if the message
// is not as encoders write it.
struct location {
  std::uint32_t tag{};
  std::string_view whole;
  std::string_view content;
};
template <class Wanted>
std::optional<location> locate_only(std::string_view message, Wanted wanted) {
  location found;
  field_reader from{message};
  auto const* begin = message.data();
  while (auto const tag = from.next_tag()) {
    auto const content = from.take_any(tag);
    auto const* const end = from.position();
    if (wanted(tag)) {
      if (found.tag != 0) return std::nullopt;
      found = {tag, {begin, end}, content};
    }
    begin = end;
  }
  return from.succeeded() && found.tag != 0 ? std::optional{found} : std::nullopt;
}

char const* end_of(std::string_view text) { return text.data() + text.size(); }

}  // namespace

void append_frame(std::string& out, core::client_message const& message) {
  std::visit([&](auto const& what) { append_request(out, message, what); }, message.what);
}

std::size_t bytes_beside_values(std::string_view payload) {
  std::size_t bytes = payload.size();
  field_reader from{payload};
  while (auto const tag = from.next_tag()) {
    auto const content = from.take_any(tag);
    if (auto const count = values.of(tag).bytes) bytes -= count(content);
  }
  return bytes;
}

bool append_with_value(std::string& out, std::string_view payload, std::string_view value) {
  auto const request =
      locate_only(payload, [](std::uint32_t tag) { return values.of(tag).field != 0; });
  if (!request) return false;
  int const number = values.of(request->tag).field;
  auto const is_value = [number](std::uint32_t tag) {
    return tag == tag_of(number, wire_type::content);
  };
  auto const old = locate_only(request->content, is_value);
  if (!old) return false;
  auto const others = request->content.size() - old->whole.size();
  auto const write = [&](auto& to) {
    to.put({payload.data(), request->whole.data()});
    to.put_head(static_cast<int>(request->tag >> 3), others + content_field_bytes(value.size()));
    to.put({request->content.data(), old->whole.data()});
    to.put_head(number, value.size());
    to.put(value);
    to.put({end_of(old->whole), end_of(payload)});
  };
  append_fields(out, write);
  return true;
}

status decode_client(std::string_view payload, core::client_message& to, decoded_payload& from) {
  if (payload.size() > request_bytes_max) {
    if (status wrong = check_large(payload); !wrong.ok()) return wrong;
  }
  to.id = {};
  to.answered_through = 0;
  to.task.reset();
  to.epoch = 0;
  reading state;
  bool has_request = false;
  field_reader fields{payload};
  while (auto const tag = fields.next_tag()) {
    switch (tag) {
      case tag_of(client_field::id, wire_type::varint):
        to.id = request_id{fields.take_number()};
        break;
      case tag_of(client_field::answered_through, wire_type::varint):
        to.answered_through = fields.take_number();
        break;
      case tag_of(client_field::task, wire_type::varint):
        to.task = task_id{static_cast<std::uint32_t>(fields.take_number())};
        break;
      case tag_of(client_field::epoch, wire_type::varint): to.epoch = fields.take_number(); break;
      default:
        if (auto const read = request_readers.of(tag)) {
          if (has_request) state.is_plain = false;
          read(fields, to.what, !std::exchange(has_request, true), state);
        } else {
          static_cast<void>(fields.take_any(tag));
          state.is_plain = false;
        }
    }
  }
  from.whole = payload;
  from.value = state.is_plain ? state.value : std::string_view{};
  from.is_plain = state.is_plain;
  if (!has_request) to.what.emplace<std::monostate>();
  if (!fields.succeeded()) return invalid(payload.size(), "ClientMessage");
  return check_request(to, has_request, state);
}

}  // namespace coxswain::wire
